//! The working tree of ledgers, and its state in git.

use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use rustix::process::geteuid;

use crate::core::model::snapshot::ledger::FileMoment;
use crate::core::model::text::hex;
use crate::core::model::{Repo, Untrusted};
use crate::source::os::fence::{Fence, resolve};
use crate::source::os::open::plain::small;
use crate::source::repos::head::{Commit, CommitContent};
use crate::source::repos::ignored::IgnoreRules;
use crate::source::repos::index::{Index, IndexContent};
use crate::source::repos::locate::{RepoLocation, git_dir, repository_at};
use crate::source::repos::objects::{Name, short};
use crate::source::repos::settings::settings;
use crate::source::repos::worktrees;
use crate::source::work::committed::marker::Marker;
use crate::source::work::committed::{just_moved_to, name_held};

/// The most bytes of a list of submodules that are read, and the most submodules.
const MOST_SUBMODULES: usize = 256 << 10;
const MOST_FOLDERS: usize = 64;

/// A working tree, or a folder outside of any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Its top, without links.
    pub(crate) top: PathBuf,
    located: Option<RepoLocation>,
}

impl Tree {
    /// Finds the working tree that a folder lies in; the folder may not exist yet.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        if !folder.is_absolute() {
            return None;
        }
        let fence = Fence::default();
        let folder = resolve(folder);
        let found = folder
            .ancestors()
            .take(64)
            .find_map(|top| Some((top.to_path_buf(), repository_at(top, &fence)?)));
        Some(match found {
            Some((top, located)) => Self { top, located: Some(located) },
            None => Self { top: folder, located: None },
        })
    }

    /// Returns whether it is in a git repository.
    pub(crate) fn is_repository(&self) -> bool {
        self.located.is_some()
    }

    /// Returns its top as text; `None` if it is not valid text.
    pub(crate) fn text(&self) -> Option<&str> {
        self.top.to_str()
    }

    /// Prepares to determine which files git ignores; outside of repositories there are none.
    pub(super) fn ignored(&self, home: &Path) -> Option<IgnoreRules> {
        self.located.as_ref().map(|located| IgnoreRules::new(&self.top, &located.common_dir, home))
    }

    /// Returns the other working trees of its repository that lie in it, and whether git ignores each of them.
    pub(crate) fn inside(&self, home: &Path) -> Vec<(PathBuf, bool)> {
        let (Some(located), Some(mut ignored)) = (&self.located, self.ignored(home)) else {
            return Vec::new();
        };
        let all = worktrees::read(located, &Fence::default(), &mut Vec::new());
        let inside = all.into_iter().filter(|one| one.path != self.top && one.path.starts_with(&self.top));
        inside.map(|one| (one.path.clone(), ignored.has(&one.path))).collect()
    }

    /// Returns the folders of its submodules that are checked out (gitmodules(5)).
    pub(crate) fn submodules(&self) -> Vec<PathBuf> {
        let file = self.top.join(".gitmodules");
        let text = small(&file, MOST_SUBMODULES).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let paths = settings(&text).into_iter().filter(|(name, _)| name.ends_with(".path"));
        let folders = paths.filter_map(|(_, path)| {
            let is_inside = Path::new(&path).components().all(|part| matches!(part, Component::Normal(_)));
            is_inside.then(|| self.top.join(path))
        });
        folders.filter(|folder| folder.join(".git").symlink_metadata().is_ok()).take(MOST_FOLDERS).collect()
    }

    /// Returns whether git knows a file, or anything below a folder, by what its index has.
    pub(crate) fn knows(&self, path: &Path, now: Timestamp) -> bool {
        let find = || {
            let located = self.located.as_ref()?;
            let inside = path.strip_prefix(&self.top).ok()?;
            let mut index = Index::new(&self.git_dir()?, &located.common_dir);
            let is_file = matches!(index.held(inside, now), IndexContent::File(_) | IndexContent::Conflict);
            Some(is_file || index.has_below(inside, now)?)
        };
        find().unwrap_or_default()
    }

    /// Returns whether any of these is in git's folder, or no names are given.
    pub(crate) fn is_under_way(&self, names: &[&str]) -> bool {
        let is_there = |own: PathBuf| names.iter().any(|name| own.join(name).symlink_metadata().is_ok());
        names.is_empty() || self.git_dir().is_some_and(is_there)
    }

    /// Returns the branch that it is on, if it is on one.
    pub(crate) fn branch(&self) -> Option<Untrusted> {
        worktrees::branch(&self.git_dir()?.join("HEAD"))
    }

    /// Returns the repository's own folder of git's.
    pub(crate) fn common_dir(&self) -> Option<&Path> {
        Some(&self.located.as_ref()?.common_dir)
    }

    /// Returns the folder in which git keeps this working tree's own files.
    pub(super) fn git_dir(&self) -> Option<PathBuf> {
        let located = self.located.as_ref()?;
        let is_main = located.main.as_ref() == Some(&self.top);
        if is_main { Some(located.common_dir.clone()) } else { git_dir(&self.top) }
    }

    /// Returns the commit to which the head has moved within the second of a moment.
    pub(crate) fn just_moved_to(&self, now: Timestamp) -> Option<Untrusted> {
        self.moved_to(now).map(|commit| hex(&commit).into())
    }

    fn moved_to(&self, now: Timestamp) -> Option<Name> {
        just_moved_to(&self.git_dir()?, now, geteuid().as_raw())
    }

    /// Describes a file that was edited at a moment: what it holds now, by the beginning of the name that git would
    /// give that, and the commit without the edit to which the head has moved within that second. Outside of
    /// repositories these are left out. A content that was read already is not read again.
    pub(crate) fn edited(&self, path: &str, at: Timestamp, read: Option<&Name>) -> FileMoment {
        let located = self.located.as_ref();
        let held = located.and_then(|_| read.map(short).or_else(|| name_held(Path::new(path))));
        let without = |commit: &Name| {
            let inside = Path::new(path).strip_prefix(&self.top).ok()?;
            let had = Commit::new(*commit, &located?.common_dir).held(inside, at);
            Some(match had {
                CommitContent::File(name) => short(&name) != held?,
                CommitContent::Nothing => true,
                CommitContent::Unread => false,
            })
        };
        let upon = held.and_then(|_| self.moved_to(at)).filter(|commit| without(commit) == Some(true));
        FileMoment {
            path: path.into(),
            at,
            upon: upon.map(|commit| hex(&commit).into()),
            held: held.map(|held| format!("{held:016x}").into()),
        }
    }

    /// Returns whether git ignores a file: patterns exclude it and the index does not have it, or it is git's own.
    pub(crate) fn ignores(&self, path: &Path, (now, home): (Timestamp, &Path)) -> bool {
        let is_gits = || path.strip_prefix(&self.top).is_ok_and(|inside| inside.starts_with(".git"));
        let is_excluded = || self.ignored(home).is_some_and(|mut ignored| ignored.has(path));
        self.is_repository() && (is_gits() || is_excluded() && !self.knows(path, now))
    }

    /// Returns whether the index or the checked out commit has exactly this content at a path.
    pub(crate) fn has_content(&self, path: &Path, name: &Name, now: Timestamp) -> bool {
        let find = || {
            let located = self.located.as_ref()?;
            let inside = path.strip_prefix(&self.top).ok()?;
            let mut index = Index::new(&self.git_dir()?, &located.common_dir);
            let is_staged = index.held(inside, now) == IndexContent::File(*name);
            Some(is_staged || self.checked_out()?.held(inside, now) == CommitContent::File(*name))
        };
        find().unwrap_or_default()
    }

    /// Returns the commit that is checked out.
    pub(crate) fn checked_out(&self) -> Option<Commit> {
        let common = &self.located.as_ref()?.common_dir;
        Some(Commit::new(Commit::checked_out(&self.git_dir()?, common)?, common))
    }

    /// Prepares to determine which edits git has.
    pub(crate) fn marker(&self, now: Timestamp, home: &Path) -> Marker {
        let repo = self.located.as_ref().map(|located| Repo {
            common_dir: located.common_dir.clone(),
            worktrees: worktrees::read(located, &Fence::default(), &mut Vec::new()),
            ..Repo::default()
        });
        let plain = if repo.is_none() { vec![Untrusted::from_path(&self.top)] } else { Vec::new() };
        Marker::new((repo.into_iter().collect(), plain), (now, geteuid().as_raw()), home)
    }
}

/// Returns the path, without links, of the file that is written when a tool opens this one: the target if it is a
/// link.
pub(crate) fn written(path: &str) -> Option<String> {
    let is_link = Path::new(path).symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    let target = is_link.then(|| Path::new(path).canonicalize().ok()).flatten();
    target.map_or_else(|| resolved(path), |target| Some(target.to_str()?.to_owned()))
}

/// Returns a file's path with the links on the way to it resolved, as text; `None` if it is not valid text.
pub(crate) fn resolved(path: &str) -> Option<String> {
    let path = Path::new(path);
    let folder = resolve(path.parent()?);
    Some(folder.join(path.file_name()?).to_str()?.to_owned())
}
