//! What a snapshot means: the types of `claimtop.snapshot.v1`, the contract with scripts.

use jiff::Timestamp;
use serde::Serialize;

use super::evidence::Evidence;
use super::finding::Finding;
use super::key::Key;
use super::place::PlaceView;
use super::record::{Format, Generation, RecordKind, Resource, Role, Surface};
use super::session::SessionView;
use super::shared::Shared;
use super::snapshot::SourceHealth;
use super::text::Untrusted;

/// The name of the JSON schema.
pub const SCHEMA: &str = "claimtop.snapshot.v1";

/// A judged snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// When the look was finished.
    pub taken_at: Timestamp,
    /// The machine.
    pub host: ReportHost,
    /// How each source fared.
    pub sources: Vec<SourceHealth>,
    /// Every running agent.
    pub windows: Vec<WindowView>,
    /// Every session record.
    pub records: Vec<RecordView>,
    /// Every claim.
    pub claims: Vec<ClaimView>,
    /// Every problem, worst first.
    pub findings: Vec<Finding>,
}

/// The machine, as the interface states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportHost {
    /// The host name.
    pub name: String,
    /// The boot ID.
    pub boot_id: Option<String>,
    /// The inode of the PID namespace.
    pub pid_namespace: Option<u64>,
}

/// What a window's process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowState {
    /// It runs or sleeps.
    Running,
    /// It is stopped (job control or a debugger).
    Stopped,
    /// It has exited and waits to be reaped.
    Zombie,
}

/// How a context ID was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContextSource {
    /// `CLAUDE_SESSION_ID` of the environment.
    Env,
    /// The PID of the nearest agent in the parent chain.
    AgentPid,
    /// A terminal's ID.
    Terminal,
    /// The parent's PID: another one for the next call.
    ParentPid,
}

/// A context ID with its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextId {
    /// The ID.
    pub value: Untrusted,
    /// How it was found.
    pub source: ContextSource,
    /// Whether the next call from the same window finds the same.
    pub stable: bool,
}

/// The repository that a window works in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepoView {
    /// The main working tree.
    pub root: Untrusted,
    /// The working tree that the window is in.
    pub worktree: Untrusted,
    /// The branch that is checked out there.
    pub branch: Option<Untrusted>,
}

/// One running agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowView {
    /// Stable for as long as the process lives.
    pub key: Key,
    /// The agent's PID.
    pub pid: u32,
    /// Its start in clock ticks since boot.
    pub start_ticks: u64,
    /// Its start by the wall clock, for people.
    pub started_at: Option<Timestamp>,
    /// Which agent, such as `claude-code`.
    pub agent: String,
    /// What the process is doing.
    pub state: WindowState,
    /// Its context ID.
    pub context_id: ContextId,
    /// Its session ID where that is exact.
    pub session_id: Option<Untrusted>,
    /// Its session by the strongest evidence there is, which may be a guess.
    pub session: Option<SessionView>,
    /// What the agent says it is doing (`busy`, `idle`, `waiting: permission prompt`).
    pub activity: Option<Untrusted>,
    /// A name that a person or the agent gave it.
    pub name: Option<Untrusted>,
    /// The controlling terminal.
    pub tty: Option<String>,
    /// The terminal multiplexer's pane, if known.
    pub pane: Option<Untrusted>,
    /// Where it is, beside its terminal.
    pub place: PlaceView,
    /// The working directory.
    pub cwd: Option<Untrusted>,
    /// The repository that it works in.
    pub repo: Option<RepoView>,
    /// CPU use in percent of one core.
    pub cpu_percent: Option<f32>,
    /// Resident memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The keys of its records.
    pub records: Vec<Key>,
    /// The keys of its claims.
    pub claims: Vec<Key>,
}

/// Alive, dead or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictState {
    /// The holder's process lives.
    Alive,
    /// The holder's process is proven gone.
    Dead,
    /// It cannot be told.
    Unknown,
}

/// Why; the names are the interface's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// PID and start are the recorded ones.
    SameProcess,
    /// No start is recorded and nothing contradicts.
    ProcessPresent,
    /// Its own system's database holds a sign of life that is not over.
    SignOfLife,
    /// A complete look found no such PID.
    NoProcess,
    /// Start or pidfd inode differs.
    OtherProcess,
    /// The PID's process is younger than the record.
    BornLater,
    /// The format says the PID is an agent, and this one is none.
    NotAnAgent,
    /// The record is from before the last boot.
    OtherBoot,
    /// The pidfd is readable: it has exited.
    Exited,
    /// The record names another host.
    OtherHost,
    /// The record is from another PID namespace.
    OtherNamespace,
    /// The process may not be looked at.
    NoPermission,
    /// The look was not complete.
    PartialScan,
    /// No PID is recorded.
    NoPid,
    /// The recorded PID cannot be one.
    BadPid,
    /// Only a helper's PID is known.
    WrongRole,
    /// The record cannot be read.
    Unreadable,
}

impl Reason {
    /// Returns the name that the interface fixes.
    pub fn name(self) -> &'static str {
        match self {
            Self::SameProcess => "same-process",
            Self::ProcessPresent => "process-present",
            Self::SignOfLife => "sign-of-life",
            Self::NoProcess => "no-process",
            Self::OtherProcess => "other-process",
            Self::BornLater => "born-later",
            Self::NotAnAgent => "not-an-agent",
            Self::OtherBoot => "other-boot",
            Self::Exited => "exited",
            Self::OtherHost => "other-host",
            Self::OtherNamespace => "other-namespace",
            Self::NoPermission => "no-permission",
            Self::PartialScan => "partial-scan",
            Self::NoPid => "no-pid",
            Self::BadPid => "bad-pid",
            Self::WrongRole => "wrong-role",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Whether a holder lives, why, and by what evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Alive, dead or unknown.
    pub state: VerdictState,
    /// The rule that decided.
    pub reason: Reason,
    /// The facts, in the order in which they were weighed.
    pub evidence: Shared<Evidence>,
}

/// Where a record is, for JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LocationView {
    /// A file.
    File {
        /// Its path.
        path: Untrusted,
    },
    /// A database row.
    Row {
        /// The database.
        database: Untrusted,
        /// The table.
        table: String,
        /// The row's identifier.
        id: Untrusted,
    },
}

impl VerdictState {
    /// Returns the name that JSON has.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Dead => "dead",
            Self::Unknown => "unknown",
        }
    }
}

impl ClaimStatus {
    /// Returns the name that JSON has.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contested => "contested",
            Self::Dead => "dead",
            Self::Ghost => "ghost",
            Self::Expired => "expired",
            Self::Unproven => "unproven",
            Self::Quiet => "quiet",
            Self::Held => "held",
        }
    }
}

impl std::fmt::Display for LocationView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path } => write!(f, "{path}"),
            Self::Row { database, table, id } => write!(f, "{database} {table} {id}"),
        }
    }
}

impl LocationView {
    /// Returns whether it is the file at a path.
    pub fn is(&self, path: &std::path::Path) -> bool {
        match self {
            Self::File { path: own } => *own == Untrusted::from_path(path),
            Self::Row { .. } => false,
        }
    }
}

/// A record's holder, for JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HolderView {
    /// The PID, if it can be one.
    pub pid: Option<u32>,
    /// Which process the PID is.
    pub role: Role,
    /// The recorded start in ticks.
    pub start_ticks: Option<u64>,
    /// The recorded boot.
    pub boot_id: Option<Untrusted>,
    /// The recorded host.
    pub host: Option<Untrusted>,
}

/// Whether a record is stale by its own system's rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StaleView {
    /// Whether it is.
    pub is: bool,
    /// The age in seconds of what the rule looks at; negative when it lies ahead.
    pub age_seconds: i64,
    /// The rule in words.
    pub rule: &'static str,
}

/// One judged record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordView {
    /// Stable for as long as the file or row has its name.
    pub key: Key,
    /// The system that wrote it.
    pub format: Format,
    /// What it is for.
    pub kind: RecordKind,
    /// Present or old form.
    pub generation: Generation,
    /// Which sort of file, for people.
    pub variant: &'static str,
    /// The session ID.
    pub session_id: Option<Untrusted>,
    /// The context ID.
    pub context_id: Option<Untrusted>,
    /// A short name.
    pub title: Untrusted,
    /// Where it was read.
    pub location: LocationView,
    /// What it says about its process.
    pub holder: Option<HolderView>,
    /// Whether that process lives.
    pub verdict: Verdict,
    /// The newest stored sign of life.
    pub heartbeat_at: Option<Timestamp>,
    /// Staleness by its own rule.
    pub stale: StaleView,
    /// Whether the session says that it has ended.
    pub ended: bool,
    /// The window that it belongs to.
    pub window: Option<Key>,
    /// When it was last written.
    pub written_at: Timestamp,
    /// Further facts for the evidence view.
    pub facts: Shared<(&'static str, Untrusted)>,
}

/// How a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimStatus {
    /// Two live holders.
    Contested,
    /// The holder is gone.
    Dead,
    /// Only a mirror still says so.
    Ghost,
    /// Past its own lease, and nobody proves to live.
    Expired,
    /// It cannot be told.
    Unproven,
    /// The holder lives and is silent.
    Quiet,
    /// The holder lives.
    Held,
}

/// Whether and how a claim can be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Releasable {
    /// With one key and `y`.
    Yes,
    /// With a typed confirmation.
    Confirm,
    /// Not by claimtop.
    No,
}

/// One judged claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimView {
    /// Stable for as long as the record and the resource are.
    pub key: Key,
    /// What is held.
    pub resource: Resource,
    /// The record that states it.
    pub record: Key,
    /// The window that holds it, if one is known.
    pub window: Option<Key>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// How it stands.
    pub status: ClaimStatus,
    /// The places where it is written.
    pub surfaces: Shared<Surface>,
    /// Whether it can be released.
    pub releasable: Releasable,
}
