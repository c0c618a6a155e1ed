//! Stories: how a collision came to be, as an ordered chain of dated events with their sources.
//!
//! A story never decides anything: verdicts and findings are made first, from the same snapshot. A story keeps what
//! was read apart from what is concluded from it.

pub(crate) mod chain;
pub(crate) mod edits;
pub(crate) mod entire;
pub(crate) mod foresight;
pub(crate) mod identity;
pub(crate) mod lost;
pub(crate) mod owners;
pub(crate) mod places;
pub(crate) mod ports;
pub(crate) mod registry;
pub(crate) mod scene;
pub(crate) mod stray;

use std::sync::Arc;

use crate::core::judge::rules::facts::Facts;
use crate::core::judge::story::scene::Scene;
use crate::core::model::{Code, Finding, Story};

pub(crate) fn add_stories(findings: &mut [Arc<Finding>], facts: &Facts<'_>) {
    for finding in findings {
        if let Some(story) = story(finding, facts) {
            Arc::make_mut(finding).story = Some(Box::new(story));
        }
    }
}

/// Returns the story of one finding; a finding about a single thing's own state has none.
fn story(finding: &Finding, facts: &Facts<'_>) -> Option<Story> {
    let scene = || Scene::from_finding(finding, facts);
    match finding.code {
        Code::LostEdits => lost::lost(&scene()),
        Code::SharedSessionId => identity::shared_session(&scene()),
        Code::SharedContextId => identity::shared_context(&scene()),
        Code::SharedTerminalId => identity::shared_terminal(&scene()),
        Code::InheritedRecord => identity::inherited(&scene()),
        Code::UnstableContextId => identity::unstable(&scene()),
        Code::IdentitySplit => owners::split(&scene()),
        Code::OverwrittenRecord => places::overwritten(&scene()),
        Code::SameWorktree => places::same_worktree(&scene()),
        Code::SameFolder => places::same_folder(&scene()),
        Code::OverlappingFiles => places::overlapping(&scene()).or_else(|| edits::overlapping(&scene())),
        Code::ContestedClaim => places::contested(&scene()).or_else(|| places::shared_branch(&scene())),
        Code::ContestedPort => ports::contested(&scene()),
        Code::WillConflict => foresight::will_conflict(&scene()),
        Code::RecycledPid => owners::recycled(&scene()),
        Code::WrongPid => owners::wrong_pid(&scene()),
        Code::UnknownSession => owners::unknown_session(&scene()).or_else(|| stray::stray(&scene())),
        Code::DeadIdentityServed => stray::stray(&scene()),
        Code::LostCheckpoint => entire::lost(&scene()),
        Code::AmbiguousLegacy => owners::ambiguous(&scene()),
        Code::SweptRegistry => registry::swept(&scene()),
        Code::DeadHolder
        | Code::RebootedHolder
        | Code::SuspendedHolder
        | Code::WeakTerminalId
        | Code::GhostMirror
        | Code::GhostOwner
        | Code::StrandedItem
        | Code::MultipleClaims
        | Code::FinishedItemClaimed
        | Code::ExpiredClaim
        | Code::FolderRemoved
        | Code::StaleLock
        | Code::BlockingLock
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
        | Code::ClonedMachine
        | Code::LeftOverProcess
        | Code::LeftOverPort
        | Code::LeftOverWorktree
        | Code::UnfinishedAction
        | Code::SourceFailed
        | Code::PartialScan
        | Code::QuietHolder
        | Code::ForeignHolder
        | Code::TornRecord
        | Code::LeftoverTemp
        | Code::NoRecord => None,
    }
}
