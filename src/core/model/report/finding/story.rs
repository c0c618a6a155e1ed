//! How a finding came to be, as a chain of events.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;
use crate::core::model::{Evidence, Key};

named! {
    /// The cause of a collision, among those that the systems' formats are known for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Cause {
        /// A hook used its parent's PID for its window's, and every hook has another parent.
        PpidFallback = "ppid-fallback",
        /// All windows of a project write one slot.
        ProjectSlot = "project-slot",
        /// The terminal ID is only a port or a login, which several windows share.
        PortOnlyTerminal = "port-only-terminal",
        /// A record outlived its window, and the next one matched it.
        DeadInheritance = "dead-inheritance",
        /// A session's marker is gone, so that nothing ties it to its process.
        MarkerLost = "marker-lost",
        /// A pointer that every window writes names one of them.
        PointerSplit = "pointer-split",
        /// The kernel gave a number that a record names to another process.
        PidReuse = "pid-reuse",
        /// One session was resumed while it still ran, or under another PID.
        ResumedSession = "resumed-session",
        /// Two windows work in one tree.
        SharedWorktree = "shared-worktree",
        /// Two windows work in one folder that is not a working tree.
        SharedFolder = "shared-folder",
        /// One checkpoint was given to two sessions.
        SharedCheckpoint = "shared-checkpoint",
        /// A database answered that the identity is taken, and the client took it over.
        AdoptedByConflict = "adopted-by-conflict",
        /// Two processes were started with one session ID.
        SessionIdInUse = "session-id-in-use",
        /// A variable that names the context was handed down to several windows.
        SharedEnvironment = "shared-environment",
        /// Two holders wrote the same claim, and neither looked at the other's.
        DoubleClaim = "double-claim",
        /// Two windows were given the same port.
        PortTaken = "port-taken",
        /// Two windows changed one thing, each in a working tree of its own.
        DivergedTrees = "diverged-trees",
        /// A session ID was stored before it was known.
        UnknownId = "unknown-id",
        /// One file for the whole machine waits for the next window.
        GlobalLegacy = "global-legacy",
        /// A commit of one session deleted the branch on which another one's checkpoints waited.
        BranchDeleted = "branch-deleted",
        /// An agent was started with an ID that its system had not stored, or had ended.
        StrayId = "stray-id",
        /// A command changed files that held what another window had not committed.
        Overwritten = "overwritten",
        /// A program that cannot see some windows removed their entries from the agent's registry.
        RegistrySwept = "registry-swept",
    }
}

/// Whether an event was read or concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certitude {
    /// It was read from a file, a row, a process or an earlier look.
    Observed,
    /// It follows from its evidence, which was observed.
    Inferred,
}

/// One event of a story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened; `None` if only its place in the order is known.
    pub at: Option<Timestamp>,
    /// What happened, in one plain sentence.
    pub told: String,
    /// Whether it was read or concluded.
    pub known: Certitude,
    /// Its evidence.
    pub evidence: Vec<Evidence>,
}

/// How a collision came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Story {
    /// Its cause.
    pub cause: Cause,
    /// The events, oldest first.
    #[serde(rename = "story")]
    pub events: Vec<Event>,
    /// What to do, in one sentence.
    pub advice: String,
    /// What should yield according to the advice: claims or records, or windows if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yields: Vec<Key>,
    /// The cheapest observation that would change the verdict.
    pub would_change: String,
}
