//! How a finding came to be, as a chain of events.

use jiff::Timestamp;
use serde::Serialize;

use crate::core::model::{Evidence, Key};

/// What brought a collision about; the causes that the systems' formats are known for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A hook took its parent's PID for its window's, and every hook has another parent.
    PpidFallback,
    /// All windows of a project write one slot.
    ProjectSlot,
    /// The terminal ID is no more than a port or a login, which several windows share.
    PortOnlyTerminal,
    /// A record outlived its window, and the next one matched it.
    DeadInheritance,
    /// A session's marker is gone, so that nothing ties it to its process.
    MarkerLost,
    /// A pointer that every window writes names one of them.
    PointerSplit,
    /// The kernel gave a number that a record names to another process.
    PidReuse,
    /// One session was resumed while it still ran, or under another PID.
    ResumedSession,
    /// Two windows work in one tree.
    SharedWorktree,
    /// Two windows work in one folder that is no working tree.
    SharedFolder,
    /// One checkpoint was given to two sessions.
    SharedCheckpoint,
    /// A database answered that the identity is taken, and the client took it over.
    AdoptedByConflict,
    /// Two processes were started with one session ID.
    SessionIdInUse,
    /// A variable that names the context was handed down to several windows.
    SharedEnvironment,
    /// Two holders wrote the same claim, and neither looked at the other's.
    DoubleClaim,
    /// A session ID was stored before it was known.
    UnknownId,
    /// One file for the whole machine waits for the next window.
    GlobalLegacy,
    /// A program that cannot see some windows removed their entries from the agent's registry.
    RegistrySwept,
}

impl Cause {
    /// Returns the name that JSON has.
    pub fn name(self) -> &'static str {
        match self {
            Self::PpidFallback => "ppid-fallback",
            Self::ProjectSlot => "project-slot",
            Self::PortOnlyTerminal => "port-only-terminal",
            Self::DeadInheritance => "dead-inheritance",
            Self::MarkerLost => "marker-lost",
            Self::PointerSplit => "pointer-split",
            Self::PidReuse => "pid-reuse",
            Self::ResumedSession => "resumed-session",
            Self::SharedWorktree => "shared-worktree",
            Self::SharedFolder => "shared-folder",
            Self::SharedCheckpoint => "shared-checkpoint",
            Self::AdoptedByConflict => "adopted-by-conflict",
            Self::SessionIdInUse => "session-id-in-use",
            Self::SharedEnvironment => "shared-environment",
            Self::DoubleClaim => "double-claim",
            Self::UnknownId => "unknown-id",
            Self::GlobalLegacy => "global-legacy",
            Self::RegistrySwept => "registry-swept",
        }
    }
}

/// Whether an event was read or concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// A file, a row, a process or an earlier look says so.
    Observed,
    /// It follows from what was observed; the evidence is what it follows from.
    Inferred,
}

/// One event of a story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// When it happened; nothing where only its place in the order is known.
    pub at: Option<Timestamp>,
    /// What happened, in one plain sentence.
    pub told: String,
    /// Whether it was read or concluded.
    pub known: Known,
    /// What says so.
    pub evidence: Vec<Evidence>,
}

/// How a collision came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Story {
    /// What brought it about.
    pub cause: Cause,
    /// The events, oldest first.
    #[serde(rename = "story")]
    pub events: Vec<Event>,
    /// What to do, in one sentence.
    pub advice: String,
    /// The claims or records of those whom the advice tells to yield.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub yields: Vec<Key>,
    /// The cheapest observation that would change the verdict.
    pub would_change: String,
}
