//! What a snapshot means: the types of `claimtop.snapshot.v1`, the contract with scripts.

use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::evidence::Evidence;
use super::finding::Finding;
use super::key::Key;
use super::place::PlaceView;
use super::record::{Format, Generation, Location, Record, RecordKind, Resource, Role, Surface};
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

/// A record's holder, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HolderView<'a> {
    /// The PID, if it can be one.
    pub pid: Option<u32>,
    /// Which process the PID is.
    pub role: Role,
    /// The recorded start in ticks.
    pub start_ticks: Option<u64>,
    /// The recorded boot.
    pub boot_id: Option<&'a Untrusted>,
    /// The recorded host.
    pub host: Option<&'a Untrusted>,
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

/// One judged record: what was read, which it gives access to, and what judging adds.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordView {
    /// Stable for as long as the file or row has its name.
    pub key: Key,
    /// What was read.
    pub record: Arc<Record>,
    /// Which process its PID is, where the living process tells more than the record.
    pub role: Role,
    /// Whether that process lives.
    pub verdict: Verdict,
    /// Whether it is stale by its own rule.
    pub is_stale: bool,
    /// The age in seconds of what that rule looks at; negative when it lies ahead.
    pub age_seconds: i64,
    /// The window that it belongs to.
    pub window: Option<Key>,
}

impl Deref for RecordView {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.record
    }
}

impl RecordView {
    /// Returns whether it is stale by its own rule, and by which.
    pub fn stale(&self) -> StaleView {
        let own = self.record.expiry.as_ref().map(|expiry| expiry.rule);
        let rule = own.unwrap_or("its system has no time limit for it");
        StaleView { is: self.is_stale, age_seconds: self.age_seconds, rule }
    }

    /// Returns what it says about its process.
    pub fn holder_view(&self) -> Option<HolderView<'_>> {
        self.record.holder.as_ref().map(|holder| HolderView {
            pid: self.record.pid(),
            role: self.role,
            start_ticks: holder.start_ticks,
            boot_id: holder.boot_id.as_ref(),
            host: holder.host.as_ref(),
        })
    }
}

impl Serialize for RecordView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RecordShape {
            key: &self.key,
            format: self.format,
            kind: self.kind,
            generation: self.generation,
            variant: self.variant,
            session_id: self.session_id.as_ref(),
            context_id: self.context_id.as_ref(),
            title: &self.title,
            location: &self.location,
            holder: self.holder_view(),
            verdict: &self.verdict,
            heartbeat_at: self.heartbeat_at,
            stale: self.stale(),
            ended: self.has_ended,
            window: self.window.as_ref(),
            written_at: self.written_at,
            facts: &self.facts,
        }
        .serialize(serializer)
    }
}

/// A judged record as the interface states it.
#[derive(Serialize)]
struct RecordShape<'a> {
    key: &'a Key,
    format: Format,
    kind: RecordKind,
    generation: Generation,
    variant: &'static str,
    session_id: Option<&'a Untrusted>,
    context_id: Option<&'a Untrusted>,
    title: &'a Untrusted,
    #[serde(serialize_with = "location")]
    location: &'a Location,
    holder: Option<HolderView<'a>>,
    verdict: &'a Verdict,
    heartbeat_at: Option<Timestamp>,
    stale: StaleView,
    ended: bool,
    window: Option<&'a Key>,
    written_at: Timestamp,
    facts: &'a [(&'static str, Untrusted)],
}

/// Writes where a record is, as the interface states it.
pub(super) fn location<S: Serializer>(location: &Location, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Shape<'a> {
        File { path: &'a Untrusted },
        Row { database: &'a Untrusted, table: &'static str, id: &'a Untrusted },
    }
    match location {
        Location::File(path) => Shape::File { path: path.text() },
        Location::Row(row) => Shape::Row { database: &row.database, table: row.table, id: &row.id },
    }
    .serialize(serializer)
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
