//! LEO's files: session files, identity markers, ticks, locks and the files in its worktrees.
//!
//! LEO keeps its truth in a database; these files are each machine's memory of it. So a file that names no work does
//! not prove that nothing is claimed, and most of the PIDs are those of helpers that exited a moment later.

pub(crate) mod database;
mod facts;
mod fleet;
mod id;
mod lock;
mod machine;
mod marker;
mod moment;
mod names;
mod pointer;
mod session;
mod terminal;
#[cfg(test)]
mod tests;
mod tick;
mod work;
mod worktree;

use crate::core::model::FileImage;
use crate::format::leo::names::Kind;
use crate::format::reading::json::parsed;
use crate::format::reading::place::place;
use crate::format::reading::{FileContents, Reading};
use crate::format::spec::Spec;

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec {
    places: &[
        place!(Leo, Home, ".claude-sessions", names::in_sessions => read),
        place!(Leo, Worktree, ".claude/session-identity", names::in_identity => read),
        place!(Leo, Worktree, ".claude/pids", names::in_pids => read),
        place!(Leo, Worktree, ".claude", names::in_claude => read),
        place!(Leo, Worktree, ".worktrees", names::in_worktrees => read),
        place!(Leo, Worktree, ".worktrees/*", names::in_worktree => read),
        place!(Leo, Worktree, ".worktrees/qf/*", names::in_worktree => read),
        place!(Leo, Worktree, ".worktrees/sd/*", names::in_worktree => read),
        place!(Leo, Worktree, ".worktrees/adhoc/*", names::in_worktree => read),
    ],
    released: |table, before, release| database::released(table, before, release.why),
    is_backed_up: false,
    transcripts: None,
    sessions: None,
    document: None,
};

fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    parsed(match kind {
        Kind::Session => session::read(file, reading),
        Kind::PidMarker => marker::by_pid(file, reading),
        Kind::SessionMarker => marker::by_session(file, reading),
        Kind::FallbackMarker => marker::fallback(file, reading),
        Kind::Current => pointer::current(file, reading),
        Kind::IdentityLock => lock::identity(file, reading),
        Kind::Temp => marker::temporary(file, reading),
        Kind::Tick => tick::read(file, reading),
        Kind::WorktreeLock => lock::worktree(file, reading),
        Kind::Worktree(sheet) => worktree::read(sheet, file, reading),
        Kind::Coordinator => pointer::coordinator(file, reading),
        Kind::FleetIdentity => fleet::of_session(file, reading),
        Kind::SharedFleetIdentity => fleet::shared(file, reading),
    })
}
