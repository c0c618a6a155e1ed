//! LEO's files: session files, identity markers, ticks, locks and what lies in its worktrees.
//!
//! LEO keeps its truth in a database; these files are what each machine remembers of it. So a
//! file that names no work is no proof that nothing is claimed, and most of the PIDs are those
//! of helpers that were gone a moment later.

pub mod database;
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

use super::json::parsed;
use super::{Base, FileKind, Parsed, Place, Reading};
use crate::core::model::file::FileImage;
use crate::core::model::record::format::Format;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `~/.claude-sessions/<session>.json`: this machine's copy of the session's row.
    Session,
    /// `session-identity/pid-<PID>.json`: which session a Claude Code process runs.
    PidMarker,
    /// `session-identity/<session>.json`: the same, named by the session.
    SessionMarker,
    /// `session-identity/fallback-<port>-<PID>.json`: an ID that a lost helper made up.
    FallbackMarker,
    /// `session-identity/current`: the session that started last in this checkout.
    Current,
    /// `session-identity/.lock`: held while a session's identity is put in order.
    IdentityLock,
    /// `session-identity/*.tmp.<PID>.<ms>`: a write on its way.
    Temp,
    /// `pids/tick-<session>.json`: the daemon that watches a session's Claude Code.
    Tick,
    /// `.worktrees/<key>.lock`: held while a worktree is made.
    WorktreeLock,
    /// What lies in a worktree itself.
    Worktree(Sheet),
    /// `.claude/active-coordinator.json`: the session that coordinates the others.
    Coordinator,
    /// `.claude/fleet-identity-<session>.json`: a session's name and colour.
    FleetIdentity,
    /// `.claude/fleet-identity.json`: the same for whoever has no session ID.
    SharedFleetIdentity,
}

/// A file in the folder of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sheet {
    /// `.worktree.json`: how it was made.
    Origin,
    /// `.ehg-session.json`: for which work.
    Work,
    /// `.session.json`: what older code wrote instead.
    Legacy,
    /// `.reap-eligible.json`: it may be removed.
    Eligible,
    /// `.reap-protected.json`: it may not.
    Protected,
}

/// Where the files are.
pub const PLACES: &[Place] = &[
    place(Base::Home, ".claude-sessions", |name| names::in_sessions(name).map(FileKind::Leo)),
    place(Base::Worktree, ".claude/session-identity", |name| names::in_identity(name).map(FileKind::Leo)),
    place(Base::Worktree, ".claude/pids", |name| names::in_pids(name).map(FileKind::Leo)),
    place(Base::Worktree, ".claude", |name| names::in_claude(name).map(FileKind::Leo)),
    place(Base::Worktree, ".worktrees", |name| names::in_worktrees(name).map(FileKind::Leo)),
    place(Base::Worktree, ".worktrees/*", |name| names::in_worktree(name).map(FileKind::Leo)),
    place(Base::Worktree, ".worktrees/qf/*", |name| names::in_worktree(name).map(FileKind::Leo)),
    place(Base::Worktree, ".worktrees/sd/*", |name| names::in_worktree(name).map(FileKind::Leo)),
    place(Base::Worktree, ".worktrees/adhoc/*", |name| names::in_worktree(name).map(FileKind::Leo)),
];

const fn place(base: Base, dir: &'static str, recognise: fn(&str) -> Option<FileKind>) -> Place {
    Place { format: Format::Leo, base, dir, recognise }
}

/// Reads one file.
pub fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> Parsed {
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
