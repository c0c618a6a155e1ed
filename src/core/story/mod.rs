//! Stories: how a collision came to be, as an ordered chain of dated events with their sources.
//!
//! A story never decides anything: verdicts and findings are made before it is told, from the
//! same snapshot. What was read is told apart from what is concluded from it.

mod chain;
mod identity;
mod owners;
mod places;
mod registry;
mod scene;

use jiff::Timestamp;
use serde::Serialize;

use super::evidence::Evidence;
use super::finding::{Code, Finding};
use super::key::Key;
use super::rules::Facts;
use super::shared::Shared;

use self::scene::Stage;

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
    pub evidence: Shared<Evidence>,
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

/// Tells the stories of all findings that have one.
pub(super) fn tell(findings: &mut [Finding], facts: &Facts<'_>) {
    let stage = Stage::new(facts);
    for finding in findings {
        if let Some(story) = story(finding, &stage) {
            finding.tell(story);
        }
    }
}

/// Tells the story of one finding; a finding about a single thing's own state has none.
fn story(finding: &Finding, stage: &Stage<'_>) -> Option<Story> {
    let scene = || stage.scene(finding);
    match finding.code {
        Code::SharedSessionId => identity::shared_session(&scene()),
        Code::SharedContextId => identity::shared_context(&scene()),
        Code::SharedTerminalId => identity::shared_terminal(&scene()),
        Code::InheritedRecord => identity::inherited(&scene()),
        Code::UnstableContextId => identity::unstable(&scene()),
        Code::IdentitySplit => owners::split(&scene()),
        Code::OverwrittenRecord => places::overwritten(&scene()),
        Code::SameWorktree => places::same_worktree(&scene()),
        Code::SameFolder => places::same_folder(&scene()),
        Code::OverlappingFiles => places::overlapping(&scene()),
        Code::ContestedClaim => places::contested(&scene()).or_else(|| places::shared_branch(&scene())),
        Code::RecycledPid => owners::recycled(&scene()),
        Code::WrongPid => owners::wrong_pid(&scene()),
        Code::UnknownSession => owners::unknown_session(&scene()),
        Code::AmbiguousLegacy => owners::ambiguous(&scene()),
        Code::SweptRegistry => registry::swept(&scene()),
        Code::DeadHolder
        | Code::RebootedHolder
        | Code::SuspendedHolder
        | Code::WeakTerminalId
        | Code::GhostMirror
        | Code::GhostOwner
        | Code::StrandedItem
        | Code::DeadIdentityServed
        | Code::MultipleClaims
        | Code::FinishedItemClaimed
        | Code::ExpiredClaim
        | Code::StaleLock
        | Code::StuckWriter
        | Code::LegacyRecord
        | Code::SplitGenerations
        | Code::StaleRecord
        | Code::DeletionAhead
        | Code::CorruptRecord
        | Code::UnreadableRecord
        | Code::WideMode
        | Code::ForeignOwner
        | Code::SpecialFile
        | Code::BadTimestamp
        | Code::RecordFlood
        | Code::OrphanCompanion
        | Code::SourceFailed
        | Code::PartialScan
        | Code::QuietHolder
        | Code::ForeignHolder
        | Code::TornRecord
        | Code::LeftoverTemp
        | Code::NoRecord => None,
    }
}
