//! Which processes may have turned to a record's session, by `/clear` or `/resume`.

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::window::stand_in::is_played;
use crate::core::judge::world::World;
use crate::core::model::{Process, ProcessState, Record, Untrusted};

/// How long after the hooks of a turn an agent's entry in its registry names the new session at the latest. That takes
/// far less; an agent that is stopped can take any time.
const TURN: SignedDuration = SignedDuration::from_secs(8);

/// Returns whether a process can have run a record's session, or may come to: nothing certain shows that it runs
/// another one, or its own hook has named this one before, to which it can turn back. An agent notifies its hooks of
/// every turn, so for Claude Code, which runs one session at a time, the newest note excludes as its registry does;
/// if notes may be missing they exclude no process.
pub(super) fn could_run(
    process: &Process,
    (record, session): (&Record, &Untrusted),
    world: &World<'_>,
) -> bool {
    let pid = process.id.pid;
    if world.bindings.has_run(pid, session) {
        return true;
    }
    let settled = has_settled(process, record, world);
    let certain = world.sessions.get(&pid).copied().filter(|certain| *certain != session);
    let is_registered = certain.is_some_and(|certain| {
        let own = world.registered(pid).iter().filter(|entry| entry.session_id.as_ref() == Some(certain));
        own.into_iter().any(|entry| rules_out(entry, settled, (process, record), world))
    });
    let noted = world.bindings.newest_of(pid).filter(|note| note.agent.raw() == "claude-code");
    let noted = noted.filter(|note| world.snapshot.bound.is_whole() && note.session_id != *session);
    let is_noted = noted.is_some_and(|note| settled || world.is_after(note.written_at, record.touched_at()));
    !is_registered && !is_noted
}

/// Returns whether an entry that names another session rules a record's out.
fn rules_out(
    entry: &Record,
    has_settled: bool,
    (process, record): (&Process, &Record),
    world: &World<'_>,
) -> bool {
    let follows_turns = entry.detail.claude_status().is_some_and(|status| status.follows_turns);
    let is_newer = || world.is_after(entry.written_at, record.touched_at());
    follows_turns && (has_settled || is_newer()) || world.is_younger(process, record)
}

/// Returns whether a process that had turned to a record's session when that was last touched would have noted it
/// already.
fn has_settled(process: &Process, record: &Record, world: &World<'_>) -> bool {
    // Claimtop's own demo dates its files back.
    let touched_at = if is_played(process) { record.written_at } else { record.touched_at() };
    let settled_at = touched_at.checked_add(TURN).unwrap_or(Timestamp::MAX);
    process.state != ProcessState::Stopped && world.is_after(world.snapshot.taken_at, settled_at)
}
