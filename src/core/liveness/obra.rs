//! Verdicts on Obra's rows, which name no process: only who has the database open tells.
//!
//! A row lives if a process bears its session, or if an orchestrator that is older than the row
//! has the database open. It is dead only if nobody has, no process of Obra lives, and nobody
//! else could run its session.

use super::{
    Answer, Ladder, alive, by_session, could_own, dead, elsewhere, is_before_boot, is_uuid, unknown, unseen,
};
use crate::core::process::Process;
use crate::core::record::{Location, Record};
use crate::core::report::{Reason, VerdictState};
use crate::core::snapshot::{Database, DatabaseFile};
use crate::core::text::Untrusted;
use crate::core::world::{Born, World, has_exited};

/// Judges one row.
pub(super) fn judge(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Answer {
    let by_host = record.holder.as_ref().and_then(|holder| elsewhere(holder, world, ladder));

    by_host
        .or_else(|| by_session(record, world, ladder))
        .or_else(|| by_argument(record, world, ladder))
        .or_else(|| by_database(record, world, ladder))
        .or_else(|| by_others(record, world, ladder))
        .unwrap_or(Answer(VerdictState::Unknown, Reason::Unreadable))
}

/// Judges by any process that was started with the session's ID: an orchestrator in an agent's
/// window starts agents that are no windows.
fn by_argument(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let session = record.session_id.as_ref().filter(|session| is_uuid(session.raw()))?;
    let names = |process: &&Process| {
        let details = process.details.as_ref();
        details.is_some_and(|details| details.argv.iter().any(|arg| arg.raw().ends_with(session.raw())))
    };
    let mut living = world.snapshot.processes.by_pid.values().filter(|process| !has_exited(process));
    let process = living.find(names)?;
    ladder.add("session", format!("PID {} was started with this session", process.id.pid), "arguments");
    alive(Reason::ProcessPresent)
}

/// Judges by who has the database open.
fn by_database(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let Location::Row(row) = &record.location else { return unknown(Reason::Unreadable) };
    let Some((database, file)) =
        world.database(row).and_then(|database| Some((database, database.file.as_ref()?)))
    else {
        ladder.add("database", Untrusted::fixed("it was not read"), "this look");
        return unknown(Reason::Unreadable);
    };
    if let Some(answer) = by_orchestrator(record, database, file, world, ladder) {
        return Some(answer);
    }
    if !database.is_complete {
        ladder.add("database", Untrusted::fixed("it could not be read whole by this look"), "SQLite");
        return unknown(Reason::Unreadable);
    }
    if database.opened_by.is_none() {
        ladder.add("open files", Untrusted::fixed("those of some processes may not be looked at"), "/proc");
        return unknown(Reason::NoPermission);
    }
    ladder.add("open files", Untrusted::fixed("no process has the database open"), "/proc/<pid>/fd");
    None
}

/// Judges by the processes that use the database, or are Obra's.
fn by_orchestrator(
    record: &Record,
    database: &Database,
    file: &DatabaseFile,
    world: &World<'_>,
    ladder: &mut Ladder,
) -> Option<Answer> {
    let openers = database.opened_by.as_deref().unwrap_or_default();
    let is_older = |pid: u32| {
        let process = world.snapshot.processes.get(pid);
        let born_at = record.started_at.unwrap_or(record.written_at);
        process.is_none_or(|process| world.born(process, (born_at, record.medium())) == Born::Before)
    };
    let is_own = |pid: &&u32| file.runners.contains(pid) && is_older(**pid);
    if let Some(pid) = openers.iter().find(is_own) {
        let value = format!("PID {pid}, older than the row, has the database open");
        ladder.add("orchestrator", value, "/proc/<pid>/fd");
        return alive(Reason::ProcessPresent);
    }
    if let Some(pid) = openers.first() {
        ladder.add("open files", format!("PID {pid} has the database open"), "/proc/<pid>/fd");
        return unknown(Reason::ProcessPresent);
    }
    let pid = file.runners.first()?;
    ladder.add("orchestrator", format!("PID {pid} is Obra's, and may open it any moment"), "arguments");
    unknown(Reason::ProcessPresent)
}

/// Judges a row of a database that nobody has open: dead unless somebody could run its session.
fn by_others(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    if let Some(answer) = unseen(false, world, ladder) {
        return Some(answer);
    }
    if record.session_id.is_some()
        && let Some((_, evidence)) =
            world.possible_agents.iter().find(|(agent, _)| could_own(record, agent, world))
    {
        ladder.facts.push(evidence.clone());
        return unknown(Reason::NoPid);
    }
    ladder.add(
        "possible owners",
        Untrusted::fixed("no process of Obra lives, and no agent that could run the session"),
        "complete scan of /proc",
    );
    dead(if is_before_boot(record, world, ladder) { Reason::OtherBoot } else { Reason::NoProcess })
}
