//! The files and repositories of a world, read through the real formats.

use std::path::{Path, PathBuf};

use claimtop::core::model::{
    Content, DescribedFormat, FileImage, FileMeta, MadeTree, OwnPlace, Ownership, Refusal, Repo, RepoSort,
    Snapshot, StrayTree, Untrusted, Users, Worktree,
};
use claimtop::described;
use claimtop::testing::format::{self, Base, FileContents, FileKind, Reading};
use claimtop::testing::source::{may_name_servers, server_named_in};
use jiff::tz::TimeZone;

use super::WorldFile;
use super::spec::{FileSpec, MadeSpec, ProcessSpec, RepoSpec};

pub(super) const HOME: &str = "/home/dev";

impl WorldFile {
    pub(super) fn read_file(&self, spec: &FileSpec, snapshot: &mut Snapshot) {
        let path = absolute(&self.filled(&spec.path));
        if may_name_servers(&path) {
            return;
        }
        let kind =
            self.recognise(&path).unwrap_or_else(|| panic!("no format keeps a file at {}", path.display()));
        let image = self.image(spec, path);
        let reading = Reading { host: &snapshot.host, now: snapshot.taken_at };
        match format::read(kind, &image, &reading) {
            FileContents::Record(record) => snapshot.records.push(record),
            FileContents::Broken(broken) => snapshot.broken.push(broken),
            FileContents::Ignored => {}
        }
    }

    /// Returns the name of a server with these arguments in the files of the world.
    pub(super) fn server(&self, argv: &[Untrusted]) -> Option<Untrusted> {
        let files = self.file.iter().map(|spec| (absolute(&spec.path), self.filled(&spec.text)));
        let files: Vec<_> = files.filter(|(path, _)| may_name_servers(path)).collect();
        server_named_in(files.iter().map(|(path, text)| (path.as_path(), text.as_str())), argv)
    }

    fn image(&self, spec: &FileSpec, path: PathBuf) -> FileImage {
        let written = self.at(&spec.written);
        let uid = spec.uid.unwrap_or(self.host.uid);
        let text = self.filled(&spec.text);
        let content = match spec.special.as_deref() {
            None => Content::Bytes(text.clone().into_bytes()),
            Some("hard link") => Content::Refused(Refusal::Linked(2)),
            Some("huge") => Content::Refused(Refusal::TooBig(1 << 40)),
            Some("foreign") => Content::Refused(Refusal::ForeignOwner(uid)),
            Some("unreadable") => Content::Failed("permission denied".to_owned()),
            Some("symlink") => Content::Refused(Refusal::Special("symlink")),
            Some("fifo") => Content::Refused(Refusal::Special("fifo")),
            Some("directory") => Content::Refused(Refusal::Special("directory")),
            Some("socket") => Content::Refused(Refusal::Special("socket")),
            Some("device") => Content::Refused(Refusal::Special("device")),
            Some(other) => panic!("unknown special {other}"),
        };
        FileImage {
            path: path.into(),
            meta: Some(FileMeta {
                dev: 1,
                ino: 1,
                ownership: Ownership::new(uid, u16::from_str_radix(&spec.mode, 8).expect("a mode")),
                links: 1,
                size: text.len() as u64,
                modified_at: written,
                changed_at: spec.changed.as_deref().map_or(written, |changed| self.at(changed)),
            }),
            content,
            made_at: spec.made.as_deref().map(|made| self.at(made)),
            locked_by: spec.locked_by,
            medium: spec.medium,
        }
    }

    /// Replaces `{{5 min ago}}` by the instant, `{{naive 5 min ago}}` by the same without a zone (in UTC), `{{ms 5 min
    /// ago}}` by milliseconds since 1970, `{{s 5 min ago}}` by seconds and `{{tick 5 min ago}}` by ticks since boot;
    /// `{{local 5 min ago}}` is the time in the host's zone, without it, and `{{lstart 5 min ago}}` the same in the
    /// words of `ps -o lstart=`. `{{pid 7}}`, `{{start 7}}`, `{{path /x}}` and `{{host}}` stand for themselves here,
    /// and for real values in the demo.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (inner, tail) = after.split_once("}}").expect("a closed {{time}}");
            out.push_str(before);
            out.push_str(&self.one_time(inner));
            rest = tail;
        }
        out + rest
    }

    fn one_time(&self, text: &str) -> String {
        match text.split_once(' ') {
            Some(("naive", span)) => self.at(span).to_string().trim_end_matches('Z').to_owned(),
            Some(("ms", span)) => self.at(span).as_millisecond().to_string(),
            Some(("s", span)) => self.at(span).as_second().to_string(),
            Some(("tick", span)) => self.ticks(span).to_string(),
            Some(("local", span)) => {
                let zone = TimeZone::get(&self.host.zone).expect("a zone");
                self.at(span).to_zoned(zone).datetime().to_string()
            }
            Some(("lstart", span)) => {
                let zone = TimeZone::get(&self.host.zone).expect("a zone");
                self.at(span).to_zoned(zone).strftime("%a %b %e %H:%M:%S %Y").to_string()
            }
            Some(("pid" | "path", same)) => same.to_owned(),
            Some(("port", pid)) => {
                let trace = self.trace.iter().find(|trace| trace.pid.to_string() == pid);
                trace.expect("a process that listens").ports.first().expect("a port").to_string()
            }
            Some(("start", pid)) => {
                let spec = self.process.iter().find(|spec| spec.pid.to_string() == pid);
                self.ticks(&spec.expect("a process of the world").started).to_string()
            }
            None if text == "host" => self.host.name.clone(),
            _ => self.at(text).to_string(),
        }
    }

    fn recognise(&self, path: &Path) -> Option<FileKind> {
        let folder = path.parent()?;
        let name = path.file_name()?.to_str()?;
        let is_in = |base: Base, dir: &str| {
            let bases = self.bases(base);
            bases.iter().any(|base| folder.strip_prefix(base).is_ok_and(|below| fits(below, dir)))
        };
        let mut places = format::places().filter(|place| is_in(place.base, place.dir));
        let own = self.format.iter().map(|text| own_format(text));
        places.find(|place| (place.recognise)(name)).map(FileKind::Known).or_else(|| {
            own.into_iter().find_map(|own| {
                let mut places = own.definition().places.iter();
                let is_it =
                    |place: &OwnPlace| place.fits(name) && is_in(described::base(place.root), &place.folder);
                places.any(is_it).then_some(FileKind::Described(own))
            })
        })
    }

    fn bases(&self, base: Base) -> Vec<PathBuf> {
        match base {
            Base::Tmp => vec!["/tmp".into()],
            Base::Home => vec![HOME.into()],
            Base::ClaudeConfig => vec![Path::new(HOME).join(".claude")],
            Base::Cache => vec![Path::new(HOME).join(".cache")],
            Base::GitCommon => self.repo.iter().map(|repo| Path::new(&repo.root).join(".git")).collect(),
            Base::Worktree => self
                .repo
                .iter()
                .flat_map(|repo| std::iter::once(&repo.root).chain(repo.worktrees.keys()))
                .map(PathBuf::from)
                .collect(),
        }
    }
}

/// Reads the description of a format; zones are those of this system.
fn own_format(text: &str) -> DescribedFormat {
    let zones = |name: &str| TimeZone::get(name).ok();
    DescribedFormat::new(described::parse(text, &zones).expect("a description"))
}

/// Returns whether a folder fits a place's pattern, part by part.
fn fits(below: &Path, pattern: &str) -> bool {
    let wanted: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let given: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    wanted.len() == given.len() && wanted.iter().zip(&given).all(|(want, have)| *want == "*" || want == have)
}

pub(super) fn absolute(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(below) => Path::new(HOME).join(below),
        None => path.into(),
    }
}

pub(super) fn repo(spec: &RepoSpec, processes: &[ProcessSpec], files: &[FileSpec]) -> Repo {
    let has = |paths: &[String], path: &str| paths.iter().any(|one| one == path);
    let tree = |path: &str, id: &str, branch: Option<&str>| {
        let lock = format!("{}/.git/worktrees/{id}/locked", spec.root);
        let locked = files.iter().find(|file| file.path == lock).map(|file| Untrusted::from(&*file.text));
        Worktree {
            path: path.into(),
            id: id.to_owned(),
            branch: branch.map(Untrusted::from),
            exists: !has(&spec.gone, path) && !has(&spec.absent, path),
            is_gone: has(&spec.gone, path),
            made: made(spec.made.get(path), path, locked.as_ref(), processes),
            locked,
        }
    };
    let mut worktrees = vec![tree(&spec.root, "", spec.branch.as_deref())];
    for (path, branch) in &spec.worktrees {
        let id = path.rsplit('/').next().unwrap_or_default();
        worktrees.push(tree(path, id, Some(branch)));
    }
    let is_in = |path: &String| worktrees.iter().any(|tree| Path::new(path).starts_with(&tree.path));
    let pids = |uses: &dyn Fn(&ProcessSpec) -> bool| {
        let users = processes.iter().filter(|process| process.state != "dead" && uses(process));
        users.map(|process| process.pid).collect()
    };
    let users = (!spec.users_unread).then(|| Users {
        pids: pids(&|process| !process.closed && process.cwd.iter().chain(&process.opens).any(is_in)),
        unread: pids(&|process| process.closed),
    });
    let common_dir = Path::new(&spec.root).join(".git");
    let sort = if spec.plain { RepoSort::Folder } else { RepoSort::Git };
    let (entire_refs, claimed_branches) = (spec.entire_refs.clone(), spec.claimed_branches.clone());
    let strays = (spec.strays.iter())
        .map(|(path, sort)| StrayTree { path: path.into(), sort: *sort, branch: None })
        .collect();
    Repo { common_dir, sort, worktrees, strays, entire_refs, claimed_branches, users }
}

fn made(
    spec: Option<&MadeSpec>,
    path: &str,
    locked: Option<&Untrusted>,
    processes: &[ProcessSpec],
) -> Option<MadeTree> {
    if spec.is_none() && !locked?.raw().starts_with("claude ") {
        return None;
    }
    let MadeSpec { no_commit, at_main, users_unread } = spec.copied().unwrap_or_default();
    let pids = |uses: &dyn Fn(&ProcessSpec) -> bool| {
        let users = processes.iter().filter(|process| process.state != "dead" && uses(process));
        users.map(|process| process.pid).collect()
    };
    let is_in = |other: &String| Path::new(other).starts_with(path);
    let users = (!users_unread).then(|| Users {
        pids: pids(&|process| !process.closed && process.cwd.iter().chain(&process.opens).any(is_in)),
        unread: pids(&|process| process.closed),
    });
    Some(MadeTree { has_no_commit: no_commit, is_at_main: at_main, users })
}
