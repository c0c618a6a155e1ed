//! Worlds in TOML: processes and files in, verdicts, claims and findings out.
//!
//! A world is made in memory, but its files go through the same name patterns and parsers as
//! real ones. Times may be absolute or spans such as `5 min ago`.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "test support says by panicking what is wrong"
)]

mod leo;
mod plans;
mod rows;
mod stores;
mod stories;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claimtop::core::agent::Signatures;
use claimtop::core::assess::{Policy, assess};
use claimtop::core::bound::{self, BoundSession, Notes};
use claimtop::core::file::{Content, FileImage, FileMeta, Refusal};
use claimtop::core::key::Key;
use claimtop::core::own::{Own, OwnPlace};
use claimtop::core::process::{Details, Process, ProcessId, ProcessState, ProcessTable};
use claimtop::core::record::Ownership;
use claimtop::core::report::{Report, VerdictState};
use claimtop::core::session::{SessionFile, Tie};
use claimtop::core::snapshot::{
    Host, INITIAL_PID_NAMESPACE, Repo, SeenAgent, Snapshot, SourceHealth, SourceState, Worktree,
};
use claimtop::core::text::Untrusted;
use claimtop::format::{self, Base, FileKind, Parsed, Reading};
use jiff::{Span, Timestamp, Zoned, tz::TimeZone};
use serde::Deserialize;

use self::plans::ExpectPlan;
use self::rows::{DatabaseSpec, RowSpec};
use self::stories::ExpectFinding;

/// One world.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldFile {
    /// What the world is about.
    pub(crate) title: String,
    #[serde(default)]
    host: HostSpec,
    /// Descriptions of formats of a person's own, in TOML.
    #[serde(default)]
    format: Vec<String>,
    #[serde(default)]
    process: Vec<ProcessSpec>,
    #[serde(default)]
    file: Vec<FileSpec>,
    #[serde(default)]
    row: Vec<RowSpec>,
    #[serde(default)]
    database: Vec<DatabaseSpec>,
    #[serde(default)]
    postgres: leo::PostgresSpec,
    #[serde(default)]
    repo: Vec<RepoSpec>,
    #[serde(default)]
    seen_agent: Vec<SeenSpec>,
    #[serde(default)]
    binding: Vec<BindingSpec>,
    #[serde(default)]
    session_file: Vec<SessionFileSpec>,
    #[serde(default)]
    source: Vec<SourceSpec>,
    /// What must come out.
    pub(crate) expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct HostSpec {
    now: String,
    name: String,
    boot_id: String,
    booted: String,
    zone: String,
    uid: u32,
    pid_namespace: u64,
    partial_scan: Option<String>,
    /// By how much the clock was seen to be set.
    clock_set_by: String,
}

impl Default for HostSpec {
    fn default() -> Self {
        Self {
            now: "2026-11-20T22:00:00Z".to_owned(),
            name: "vm".to_owned(),
            boot_id: "0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b".to_owned(),
            booted: "2 days ago".to_owned(),
            zone: "UTC".to_owned(),
            uid: 1000,
            pid_namespace: INITIAL_PID_NAMESPACE,
            partial_scan: None,
            clock_set_by: "0 s".to_owned(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessSpec {
    pid: u32,
    #[serde(default = "one")]
    parent: u32,
    /// `claude`, `codex`, `bash` or any other name; the first two get an agent's executable.
    name: String,
    /// When it started.
    started: String,
    /// `running`, `stopped`, `zombie` or `leader-exited`; `dead` is not in the table at all.
    #[serde(default = "running")]
    state: String,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    exe: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    tty: Option<String>,
    #[serde(default)]
    uid: Option<u32>,
    #[serde(default)]
    ns_pids: Vec<u32>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    exited: Option<bool>,
    #[serde(default)]
    other_clock: bool,
    #[serde(default)]
    pidfd_inode: Option<u64>,
    /// Listed, but nothing can be read of it.
    #[serde(default)]
    hidden: bool,
}

fn one() -> u32 {
    1
}

fn running() -> String {
    "running".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSpec {
    /// Where: `/tmp/...`, `~/...`, `git:/repo/...` (the common directory) or a path in a worktree.
    path: String,
    #[serde(default)]
    text: String,
    #[serde(default = "a_minute_ago")]
    written: String,
    #[serde(default = "private")]
    mode: String,
    #[serde(default)]
    uid: Option<u32>,
    /// `symlink`, `fifo`, `directory`, `socket`, `device`, `hard link`, `huge`, `foreign`, `unreadable`.
    #[serde(default)]
    special: Option<String>,
    #[serde(default)]
    locked_by: Option<u32>,
}

fn a_minute_ago() -> String {
    "1 min ago".to_owned()
}

fn private() -> String {
    "0600".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RepoSpec {
    root: String,
    #[serde(default)]
    branch: Option<String>,
    /// Linked worktrees: path -> branch.
    #[serde(default)]
    worktrees: BTreeMap<String, String>,
    /// Those of them whose folder has gone.
    #[serde(default)]
    gone: Vec<String>,
    #[serde(default)]
    entire_refs: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeenSpec {
    pid: u32,
    started: String,
    /// When it was last seen; now where nothing is said.
    #[serde(default)]
    until: Option<String>,
}

/// A note that `claimtop bind` left.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BindingSpec {
    session: String,
    pid: u32,
    /// When the process started.
    started: String,
    #[serde(default = "a_minute_ago")]
    written: String,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    pidfd_inode: Option<u64>,
    #[serde(default)]
    boot_id: Option<String>,
    #[serde(default)]
    host: Option<String>,
    #[serde(default)]
    pid_namespace: Option<u64>,
    /// It is there and makes no sense.
    #[serde(default)]
    broken: bool,
}

/// A session file of an agent, as the source found it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionFileSpec {
    agent: String,
    session: String,
    #[serde(default)]
    locked_by: Option<u32>,
    #[serde(default)]
    names: Option<u32>,
    #[serde(default)]
    opened_by: Option<u32>,
    #[serde(default)]
    folder: Option<String>,
    #[serde(default = "a_minute_ago")]
    written: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceSpec {
    id: String,
    state: String,
    detail: String,
}

/// What must come out of a world.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// Every finding code that must come out, sorted; a code twice when it must come twice.
    pub(crate) findings: Vec<String>,
    /// Parts of messages that must be there.
    #[serde(default)]
    pub(crate) messages: Vec<String>,
    /// Records, by the end of their path.
    #[serde(default)]
    pub(crate) record: Vec<ExpectRecord>,
    /// Claims, as `kind id`.
    #[serde(default)]
    pub(crate) claim: Vec<ExpectClaim>,
    /// Windows, by PID.
    #[serde(default)]
    pub(crate) window: Vec<ExpectWindow>,
    /// The PIDs of all windows, where that matters.
    #[serde(default)]
    pub(crate) windows: Option<Vec<u32>>,
    /// How findings came to be.
    #[serde(default)]
    pub(crate) finding: Vec<ExpectFinding>,
    /// Plans that could be asked for.
    #[serde(default)]
    pub(crate) plan: Vec<ExpectPlan>,
}

/// What must be true of one record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectRecord {
    path: String,
    /// `dead no-process` and the like.
    #[serde(default)]
    verdict: Option<String>,
    #[serde(default)]
    generation: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    window: Option<u32>,
    #[serde(default)]
    stale: Option<bool>,
}

/// What must be true of one claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectClaim {
    resource: String,
    status: String,
    #[serde(default)]
    releasable: Option<String>,
    #[serde(default)]
    window: Option<u32>,
}

/// What must be true of one window.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectWindow {
    pid: u32,
    #[serde(default)]
    agent: Option<String>,
    /// `4711 agent-pid` and the like.
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    branch: Option<String>,
    /// `exact registry 95fe...` and the like: strength, evidence and session; empty for none.
    #[serde(default)]
    by: Option<String>,
    /// Where it is, in words; empty for nowhere.
    #[serde(default)]
    place: Option<String>,
}

const HOME: &str = "/home/dev";
const TICKS: u64 = 100;

/// Returns the path of every world, sorted.
pub(crate) fn worlds() -> Vec<PathBuf> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder of worlds") {
            let path = entry.expect("a world").path();
            if path.is_dir() { walk(&path, out) } else { out.push(path) }
        }
    }
    let mut all = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"), &mut all);
    all.retain(|path| path.extension().is_some_and(|ext| ext == "toml"));
    all.sort();
    all
}

/// Reads the text of a world.
pub(crate) fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a world.
pub(crate) fn load(path: &Path) -> WorldFile {
    parse(&text(path), &path.display().to_string())
}

/// Reads a world from its text, which came from somewhere.
pub(crate) fn parse(text: &str, from: &str) -> WorldFile {
    toml::from_str(text).unwrap_or_else(|error| panic!("{from}: {error}"))
}

impl WorldFile {
    fn now(&self) -> Timestamp {
        self.host.now.parse().expect("host.now is an instant")
    }

    fn at(&self, text: &str) -> Timestamp {
        if let Ok(at) = text.parse() {
            return at;
        }
        let span: Span = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let now = Zoned::new(self.now(), TimeZone::UTC);
        now.checked_add(span).expect("a time").timestamp()
    }

    fn booted_at(&self) -> Timestamp {
        self.at(&self.host.booted)
    }

    /// Returns the start of a process in ticks.
    fn ticks(&self, started: &str) -> u64 {
        if let Some(ticks) = started.strip_prefix("tick ") {
            return ticks.parse().expect("a tick");
        }
        let millis = self.at(started).duration_since(self.booted_at()).as_millis();
        u64::try_from(millis).expect("started after boot") * TICKS / 1000
    }

    /// Makes the snapshot.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let zone = TimeZone::get(&self.host.zone).expect("a zone");
        let host = Host {
            name: self.host.name.clone(),
            boot_id: Some(self.host.boot_id.clone()),
            pid_namespace: Some(self.host.pid_namespace),
            boot_at: Some(self.booted_at()),
            clock_doubt: self.host.clock_set_by.parse().expect("a span"),
            ticks_per_second: TICKS,
            uid: self.host.uid,
            zone,
        };
        let mut snapshot = Snapshot {
            taken_at: self.now(),
            processes: self.table(),
            records: Vec::new(),
            broken: Vec::new(),
            repos: self.repo.iter().map(repo).collect(),
            databases: Vec::new(),
            sources: self.source.iter().map(source).collect(),
            seen_agents: self
                .seen_agent
                .iter()
                .map(|seen| SeenAgent {
                    id: ProcessId { pid: seen.pid, start_ticks: self.ticks(&seen.started) },
                    last_seen_at: seen.until.as_deref().map_or(self.now(), |until| self.at(until)),
                })
                .collect(),
            bound: self.notes(),
            session_files: self.session_file.iter().map(|spec| self.session_file(spec)).collect(),
            host,
        };
        for file in &self.file {
            self.read_file(file, &mut snapshot);
        }
        rows::read(self, &mut snapshot);
        leo::read(self, &mut snapshot);
        stores::read(self, &mut snapshot);
        snapshot
    }

    fn session_file(&self, spec: &SessionFileSpec) -> SessionFile {
        let ties = [
            spec.locked_by.map(Tie::Locked),
            spec.names.map(Tie::Named),
            spec.opened_by.map(Tie::Opened),
            spec.folder.as_deref().map(|folder| Tie::Folder(folder.into())),
        ];
        SessionFile {
            agent: ["claude-code", "codex", "copilot", "gemini", "opencode", "qwen"]
                .into_iter()
                .find(|name| *name == spec.agent)
                .unwrap_or_else(|| panic!("no session files of {}", spec.agent)),
            session: spec.session.as_str().into(),
            tie: ties.into_iter().flatten().next().expect("what ties it"),
            written_at: self.at(&spec.written),
            path: PathBuf::from(format!("/home/dev/{}", spec.session)).into(),
        }
    }

    fn notes(&self) -> Notes {
        let (broken, sound): (Vec<_>, Vec<_>) = self.binding.iter().partition(|spec| spec.broken);
        Notes {
            notes: sound.into_iter().map(|spec| Arc::new(self.note(spec))).collect(),
            unreadable: broken.into_iter().map(|spec| spec.session.as_str().into()).collect(),
            partial: None,
        }
    }

    fn note(&self, spec: &BindingSpec) -> BoundSession {
        let written_at = self.at(&spec.written);
        let since_boot = written_at.duration_since(self.booted_at()).as_millis();
        BoundSession {
            schema: bound::SCHEMA.into(),
            session_id: spec.session.as_str().into(),
            agent: spec.agent.as_deref().unwrap_or("claude-code").into(),
            host: spec.host.as_ref().unwrap_or(&self.host.name).as_str().into(),
            boot_id: spec.boot_id.as_ref().unwrap_or(&self.host.boot_id).as_str().into(),
            pid_namespace: spec.pid_namespace.unwrap_or(self.host.pid_namespace),
            pid: spec.pid,
            start_ticks: self.ticks(&spec.started),
            pidfd_inode: spec.pidfd_inode,
            context_id: spec.pid.to_string().into(),
            cwd: None,
            written_at,
            since_boot_ms: u64::try_from(since_boot).unwrap_or_default(),
        }
    }

    /// Judges the world.
    pub(crate) fn report(&self) -> Report {
        let signatures = Signatures::built_in().expect("signatures");
        assess(&self.snapshot(), &Policy { signatures })
    }

    fn table(&self) -> ProcessTable {
        let mut table = ProcessTable { partial: self.host.partial_scan.clone(), ..ProcessTable::default() };
        for spec in self.process.iter().filter(|spec| spec.state != "dead") {
            table.listed.insert(spec.pid);
            if !spec.hidden {
                table.by_pid.insert(spec.pid, self.process(spec));
            }
        }
        table
    }

    fn process(&self, spec: &ProcessSpec) -> Process {
        let exe = spec.exe.clone().unwrap_or_else(|| match spec.name.as_str() {
            "claude" => "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe".to_owned(),
            "codex" => "/opt/node_modules/@openai/codex-linux-x64/vendor/x/bin/codex".to_owned(),
            name => format!("/usr/bin/{name}"),
        });
        let argv = if spec.argv.is_empty() { vec![spec.name.clone()] } else { spec.argv.clone() };
        let ns_pids = if spec.ns_pids.is_empty() { vec![spec.pid] } else { spec.ns_pids.clone() };
        Process {
            id: ProcessId { pid: spec.pid, start_ticks: self.ticks(&spec.started) },
            parent: spec.parent,
            state: match spec.state.as_str() {
                "running" => ProcessState::Running,
                "stopped" => ProcessState::Stopped,
                "zombie" => ProcessState::Zombie,
                "leader-exited" => ProcessState::LeaderExited,
                other => panic!("unknown state {other}"),
            },
            comm: spec.name.as_str().into(),
            tty: spec.tty.clone(),
            session: spec.pid,
            pidfd_inode: spec.pidfd_inode,
            has_exited: spec.exited,
            details: Some(Details {
                uid: Some(spec.uid.unwrap_or(self.host.uid)),
                exe: Some(exe.into()),
                argv: argv.into_iter().map(Untrusted::from).collect(),
                cwd: spec.cwd.as_deref().map(Untrusted::from),
                ns_pids,
                has_other_clock: spec.other_clock,
                env: spec.env.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect(),
                cpu_percent: None,
                memory_bytes: None,
            }),
        }
    }

    fn read_file(&self, spec: &FileSpec, snapshot: &mut Snapshot) {
        let path = absolute(&self.filled(&spec.path));
        let kind =
            self.recognise(&path).unwrap_or_else(|| panic!("no format keeps a file at {}", path.display()));
        let image = self.image(spec, path);
        let reading = Reading { host: &snapshot.host, now: snapshot.taken_at };
        match format::read(kind, &image, &reading) {
            Parsed::Record(record) => snapshot.records.push(record),
            Parsed::Broken(broken) => snapshot.broken.push(broken),
            Parsed::Ignored => {}
        }
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
                ownership: Ownership { uid, mode: u32::from_str_radix(&spec.mode, 8).expect("a mode") },
                links: 1,
                size: text.len() as u64,
                modified_at: written,
                changed_at: written,
            }),
            content,
            locked_by: spec.locked_by,
        }
    }

    /// Replaces `{{5 min ago}}` by the instant, `{{naive 5 min ago}}` by the same without a
    /// zone (in UTC), `{{ms 5 min ago}}` by milliseconds since 1970, `{{s 5 min ago}}` by
    /// seconds and `{{tick 5 min ago}}` by ticks since boot; `{{local 5 min ago}}` is the time in
    /// the host's zone, without it. `{{pid 7}}`, `{{start 7}}`, `{{path /x}}` and `{{host}}` stand
    /// for themselves here, and for what is real in the demo.
    fn filled(&self, text: &str) -> String {
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
            Some(("pid" | "path", same)) => same.to_owned(),
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
        places.find_map(|place| (place.recognise)(name)).or_else(|| {
            own.into_iter().find_map(|own| {
                let mut places = own.definition().places.iter();
                let is_it = |place: &OwnPlace| {
                    place.fits(name) && is_in(format::own::base(place.root), &place.folder)
                };
                places.any(is_it).then_some(FileKind::Own(own))
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
fn own_format(text: &str) -> Own {
    let zones = |name: &str| TimeZone::get(name).ok();
    Own::new(format::own::parse(text, &zones).expect("a description"))
}

/// Returns whether a folder fits a place's pattern, part by part.
fn fits(below: &Path, pattern: &str) -> bool {
    let wanted: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let given: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    wanted.len() == given.len() && wanted.iter().zip(&given).all(|(want, have)| *want == "*" || want == have)
}

fn absolute(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(below) => Path::new(HOME).join(below),
        None => path.into(),
    }
}

fn repo(spec: &RepoSpec) -> Repo {
    let tree = |path: &str, id: &str, branch: Option<&str>| Worktree {
        path: path.into(),
        id: id.to_owned(),
        branch: branch.map(Untrusted::from),
        exists: !spec.gone.iter().any(|gone| gone == path),
        locked: None,
    };
    let mut worktrees = vec![tree(&spec.root, "", spec.branch.as_deref())];
    for (path, branch) in &spec.worktrees {
        let id = path.rsplit('/').next().unwrap_or_default();
        worktrees.push(tree(path, id, Some(branch)));
    }
    Repo { common_dir: Path::new(&spec.root).join(".git"), worktrees, entire_refs: spec.entire_refs.clone() }
}

fn source(spec: &SourceSpec) -> SourceHealth {
    SourceHealth {
        id: spec.id.clone(),
        state: match spec.state.as_str() {
            "ok" => SourceState::Ok,
            "partial" => SourceState::Partial,
            "failed" => SourceState::Failed,
            "absent" => SourceState::Absent,
            other => panic!("unknown source state {other}"),
        },
        detail: spec.detail.as_str().into(),
    }
}

/// Compares a report with what its world expects and returns every difference.
pub(crate) fn differences(expect: &Expect, report: &Report) -> Vec<String> {
    let mut out = Vec::new();
    let mut found: Vec<&str> = report.findings.iter().map(|finding| finding.code.name()).collect();
    found.sort_unstable();
    let mut wanted: Vec<&str> = expect.findings.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    if found != wanted {
        let told: Vec<String> =
            report.findings.iter().map(|f| format!("\n    {}: {}", f.code.name(), f.message)).collect();
        out.push(format!("findings: expected {wanted:?}, found {found:?}{}", told.concat()));
    }
    for part in &expect.messages {
        if !report.findings.iter().any(|finding| finding.message.contains(part)) {
            out.push(format!("no message contains {part:?}"));
        }
    }
    expect.record.iter().for_each(|wanted| check_record(wanted, report, &mut out));
    expect.claim.iter().for_each(|wanted| check_claim(wanted, report, &mut out));
    expect.window.iter().for_each(|wanted| check_window(wanted, report, &mut out));
    expect.finding.iter().for_each(|wanted| stories::check_finding(wanted, report, &mut out));
    expect.plan.iter().for_each(|wanted| plans::check_plan(wanted, report, &mut out));
    if let Some(pids) = &expect.windows {
        let found: Vec<u32> = report.windows.iter().map(|window| window.pid).collect();
        same("windows", Some(pids), found, &mut out);
    }
    out
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, wanted: Option<&T>, found: T, out: &mut Vec<String>) {
    if let Some(wanted) = wanted.filter(|wanted| **wanted != found) {
        out.push(format!("{what}: expected {wanted:?}, found {found:?}"));
    }
}

/// Returns how a value reads in JSON, without quotes.
pub(crate) fn json_name<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).expect("a value").as_str().unwrap_or_default().to_owned()
}

fn check_record(wanted: &ExpectRecord, report: &Report, out: &mut Vec<String>) {
    let json = |record: &claimtop::core::report::RecordView| serde_json::to_value(record).expect("json");
    let path = |record: &_| {
        let location = &json(record)["location"];
        let part = |name: &str| location[name].as_str().unwrap_or_default().to_owned();
        if location["path"].is_null() { format!("{} {}", part("table"), part("id")) } else { part("path") }
    };
    let Some(record) = report.records.iter().find(|record| path(record).ends_with(&wanted.path)) else {
        return out.push(format!("no record at {}", wanted.path));
    };
    let name = &wanted.path;
    let verdict = format!("{} {}", json_name(&record.verdict.state), record.verdict.reason.name());
    same(&format!("{name} verdict"), wanted.verdict.as_ref(), verdict, out);
    same(&format!("{name} generation"), wanted.generation.as_ref(), json_name(&record.generation), out);
    let session = record.session_id.as_ref().map(|id| id.raw().to_owned()).unwrap_or_default();
    same(&format!("{name} session"), wanted.session.as_ref(), session, out);
    let role = record.holder.as_ref().map(|holder| json_name(&holder.role)).unwrap_or_default();
    same(&format!("{name} role"), wanted.role.as_ref(), role, out);
    same(&format!("{name} stale"), wanted.stale.as_ref(), record.stale.is, out);
    let window = report.windows.iter().find(|window| Some(&window.key) == record.window.as_ref());
    same(&format!("{name} window"), wanted.window.as_ref(), window.map_or(0, |window| window.pid), out);
}

fn check_claim(wanted: &ExpectClaim, report: &Report, out: &mut Vec<String>) {
    let name = |claim: &claimtop::core::report::ClaimView| {
        format!("{} {}", claim.resource.kind.name(), claim.resource.id.raw())
    };
    let Some(claim) = report.claims.iter().find(|claim| name(claim) == wanted.resource) else {
        return out.push(format!("no claim {}", wanted.resource));
    };
    let what = &wanted.resource;
    same(&format!("{what} status"), Some(&wanted.status), json_name(&claim.status), out);
    same(&format!("{what} releasable"), wanted.releasable.as_ref(), json_name(&claim.releasable), out);
    let window = report.windows.iter().find(|window| Some(&window.key) == claim.window.as_ref());
    same(&format!("{what} window"), wanted.window.as_ref(), window.map_or(0, |window| window.pid), out);
}

fn check_window(wanted: &ExpectWindow, report: &Report, out: &mut Vec<String>) {
    let Some(window) = report.windows.iter().find(|window| window.pid == wanted.pid) else {
        return out.push(format!("no window {}", wanted.pid));
    };
    let name = wanted.pid;
    same(&format!("{name} agent"), wanted.agent.as_ref(), window.agent.clone(), out);
    let context = format!("{} {}", window.context_id.value.raw(), json_name(&window.context_id.source));
    same(&format!("{name} context"), wanted.context.as_ref(), context, out);
    same(&format!("{name} state"), wanted.state.as_ref(), json_name(&window.state), out);
    let session = window.session_id.as_ref().map(|id| id.raw().to_owned()).unwrap_or_default();
    same(&format!("{name} session"), wanted.session.as_ref(), session, out);
    let by = window
        .session
        .as_ref()
        .map(|session| format!("{} {} {}", json_name(&session.strength), session.evidence.fact, session.id));
    same(&format!("{name} by"), wanted.by.as_ref(), by.unwrap_or_default(), out);
    same(&format!("{name} place"), wanted.place.as_ref(), window.place.words().unwrap_or_default(), out);
    let branch = window.repo.as_ref().and_then(|repo| repo.branch.as_ref()).map(|b| b.raw().to_owned());
    same(&format!("{name} branch"), wanted.branch.as_ref(), branch.unwrap_or_default(), out);
}

/// Returns every record's verdict by key.
pub(crate) fn verdicts(snapshot: &Snapshot) -> BTreeMap<Key, VerdictState> {
    let signatures = Signatures::built_in().expect("signatures");
    let report = assess(snapshot, &Policy { signatures });
    report.records.into_iter().map(|record| (record.key, record.verdict.state)).collect()
}

/// Forgets some facts of a snapshot, chosen by `seed`: processes, their parts, records, agents
/// seen earlier, facts of the host. What is not forgotten stays true.
pub(crate) fn forget(full: &Snapshot, seed: u64) -> Snapshot {
    let mut dice = Dice(seed | 1);
    let mut snapshot = full.clone();
    let chance = 2 + dice.roll(6);
    snapshot.processes.by_pid.retain(|_, _| dice.roll(chance) != 0);
    for process in snapshot.processes.by_pid.values_mut() {
        if dice.roll(chance) == 0 {
            process.details = None;
        }
        if process.state != ProcessState::Zombie && dice.roll(chance) == 0 {
            process.has_exited = None;
        }
        if let Some(details) = process.details.as_mut() {
            forget_details(details, &mut dice, chance);
        }
    }
    snapshot.records.retain(|_| dice.roll(chance) != 0);
    snapshot.seen_agents.retain(|_| dice.roll(chance) != 0);
    let known = snapshot.bound.notes.len();
    snapshot.bound.notes.retain(|_| dice.roll(chance) != 0);
    if snapshot.bound.notes.len() < known {
        snapshot.bound.partial = Some("forgotten".to_owned());
    }
    snapshot.databases.retain(|_| dice.roll(chance) != 0);
    for database in &mut snapshot.databases {
        database.is_complete &= dice.roll(chance) != 0;
        database.opened_by = database.opened_by.take().filter(|_| dice.roll(chance) != 0);
        database.file = database.file.take().filter(|_| dice.roll(chance) != 0);
    }
    let host = &mut snapshot.host;
    host.boot_id = host.boot_id.take().filter(|_| dice.roll(chance) != 0);
    host.boot_at = host.boot_at.take().filter(|_| dice.roll(chance) != 0);
    host.pid_namespace = host.pid_namespace.take().filter(|_| dice.roll(chance) != 0);
    if dice.roll(chance) == 0 {
        snapshot.processes.partial = Some("forgotten".to_owned());
    }
    snapshot
}

fn forget_details(details: &mut Details, dice: &mut Dice, chance: u64) {
    details.uid = details.uid.filter(|_| dice.roll(chance) != 0);
    details.exe = details.exe.take().filter(|_| dice.roll(chance) != 0);
    details.cwd = details.cwd.take().filter(|_| dice.roll(chance) != 0);
    if dice.roll(chance) == 0 {
        details.argv.clear();
    }
    if dice.roll(chance) == 0 {
        details.ns_pids.clear();
    }
    if dice.roll(chance) == 0 {
        details.env.clear();
    }
}

/// A small generator (xorshift), so that a seed replays.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % sides
    }
}
