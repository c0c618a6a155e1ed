//! Verdicts on Obra's rows, which name no process: the only evidence is which process has the database open.
//!
//! A row lives if a process bears its session, or if an orchestrator that is older than the row has the database
//! open. It is dead only if no process has it open, no process of Obra lives, and none could run its session.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::core::judge::liveness::absent::is_before_boot;
use crate::core::judge::liveness::answer::{Answer, Trail, alive, dead, unknown};
use crate::core::judge::liveness::machine::elsewhere;
use crate::core::judge::liveness::owner::could_own;
use crate::core::judge::liveness::owners::unseen;
use crate::core::judge::liveness::session::by_session;
use crate::core::judge::world::{Birth, World};
use crate::core::model::snapshot::process::{ancestry, has_exited};
use crate::core::model::text::is_uuid;
use crate::core::model::{
    Database, DatabaseFile, Location, Process, Reason, Record, RecordKind, Row, Untrusted, VerdictState,
};

pub(crate) fn judge(record: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    let by_host = record.holder.as_ref().and_then(|holder| elsewhere(record, holder, world, trail));

    by_host
        .or_else(|| by_session(record, world, trail))
        .or_else(|| by_argument(record, world, trail))
        .or_else(|| by_database(record, world, trail))
        .or_else(|| by_open_session(record, world, trail))
        .or_else(|| by_others(record, world, trail))
        .unwrap_or(Answer(VerdictState::Unknown, Reason::Unreadable))
}

/// Judges by any process that was started with the session's ID: an orchestrator in an agent's
/// window starts agents that are not windows.
fn by_argument(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let process = bearers(record.session_id.as_ref()?, world).next()?;
    trail.add("session", format!("PID {} was started with this session", process.id.pid), "arguments");
    alive(Reason::ProcessPresent)
}

/// Returns the processes that live and were started with a session's ID.
fn bearers<'a>(session: &'a Untrusted, world: &'a World<'_>) -> impl Iterator<Item = &'a Process> {
    let names = |process: &&Process| {
        let details = process.details.as_ref();
        details.is_some_and(|details| details.argv.iter().any(|arg| arg.raw().ends_with(session.raw())))
    };
    let living = world.snapshot.processes.by_pid.values().filter(|process| !has_exited(process));
    living.filter(|_| is_uuid(session.raw())).filter(names)
}

/// Judges by the processes that have the database open.
fn by_database(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let Location::Row(row) = &record.location else { return unknown(Reason::Unreadable) };
    let Some((database, file)) =
        world.database(row).and_then(|database| Some((database, database.file.as_ref()?)))
    else {
        trail.add("database", "it was not read", "this look");
        return unknown(Reason::Unreadable);
    };
    if let Some(answer) = by_orchestrator(record, database, file, world, trail) {
        return Some(answer);
    }
    if !database.is_complete {
        trail.add("database", "it could not be read completely by this scan", "SQLite");
        return unknown(Reason::Unreadable);
    }
    if database.opened_by.is_none() {
        trail.add("open files", "some processes cannot be inspected", "/proc");
        return unknown(Reason::NoPermission);
    }
    trail.add("open files", "no process has the database open", "/proc/<pid>/fd");
    None
}

/// Judges by the processes that use the database, or are Obra's.
fn by_orchestrator(
    record: &Record,
    database: &Database,
    file: &DatabaseFile,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    let Location::Row(row) = &record.location else { return unknown(Reason::Unreadable) };
    let openers = database.opened_by.as_deref().unwrap_or_default();
    let is_older = |pid: u32| {
        let process = world.snapshot.processes.get(pid);
        let born_at = record.started_at.unwrap_or(record.written_at);
        process.is_none_or(|process| world.born(process, (born_at, record.medium())) == Birth::Before)
    };
    let may_be_own = |pid: &&u32| file.runners.contains(pid) && is_older(**pid);
    let owners: Vec<u32> = openers.iter().filter(may_be_own).copied().collect();
    if let Some(pid) = Runs::of(row, world).own(record, &owners) {
        let value = format!("PID {pid}, older than the row, has the database open and runs no other session");
        trail.add("orchestrator", value, "/proc/<pid>/fd and arguments");
        return alive(Reason::ProcessPresent);
    }
    if let Some(pid) = openers.first() {
        trail.add("open files", format!("PID {pid} has the database open"), "/proc/<pid>/fd");
        return unknown(Reason::ProcessPresent);
    }
    let pid = file.runners.first()?;
    trail.add(
        "orchestrator",
        format!("PID {pid} belongs to Obra and may open it at any moment"),
        "arguments",
    );
    unknown(Reason::ProcessPresent)
}

/// Judges a task, which names no session, by the open sessions that are about it: it is dead only with all of them.
fn by_open_session(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let Location::Row(row) = &record.location else { return None };
    let task = record.detail.obra()?.task.as_ref().filter(|_| record.session_id.is_none())?;
    let is_about = |other: &&Arc<Record>| match &other.location {
        Location::Row(session) => {
            let about = other.detail.obra().and_then(|row| row.task.as_ref());
            session.database == row.database
                && other.session_id.is_some()
                && !other.has_ended
                && about == Some(task)
        }
        Location::File(_) => false,
    };
    let sessions = world.snapshot.records.iter().filter(is_about);
    let answers = sessions.map(|session| (session, judge(session, world, &mut Trail::default())));
    let (session, answer) = answers.into_iter().find(|(_, answer)| answer.0 != VerdictState::Dead)?;
    trail.add("session", format!("{} of this task is not dead", session.location.text()), "session_record");
    Some(answer)
}

/// Judges a row of a database that no process has open: dead unless some process could run its session.
fn by_others(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    if let Some(answer) = unseen(false, world, trail) {
        return Some(answer);
    }
    if record.session_id.is_some()
        && let Some((_, evidence)) =
            world.possible_agents.iter().find(|(agent, _)| could_own(record, agent, world))
    {
        trail.facts.push(evidence.clone());
        return unknown(Reason::NoPid);
    }
    trail.add(
        "possible owners",
        "no process of Obra is running, and no agent that could run the session",
        "complete scan of /proc",
    );
    dead(if is_before_boot(record, world, trail) { Reason::OtherBoot } else { Reason::NoProcess })
}

/// The runs of one database that stand as open, by the context of their rows. A run's own row names no process and
/// its session is in no process's arguments, so only the absence of another run ties it to an orchestrator: an
/// orchestrator works on one run after the other.
struct Runs<'a> {
    /// The runs whose sessions no living agent bears.
    unborne: BTreeSet<&'a Untrusted>,
    /// The agents that live, with the runs whose sessions they bear.
    agents: Vec<(&'a Process, &'a Untrusted)>,
    world: &'a World<'a>,
}

impl<'a> Runs<'a> {
    fn of(row: &Row, world: &'a World<'a>) -> Self {
        let is_open = |record: &&Arc<Record>| match &record.location {
            Location::Row(other) => {
                other.database == row.database && record.kind != RecordKind::Metadata && !record.has_ended
            }
            Location::File(_) => false,
        };
        let rows = world.snapshot.records.iter().filter(is_open);
        let mut runs = Self { unborne: BTreeSet::new(), agents: Vec::new(), world };
        for (context, record) in rows.filter_map(|record| Some((record.context_id.as_ref()?, record))) {
            runs.unborne.insert(context);
            let borne = record.session_id.as_ref().into_iter().flat_map(|session| bearers(session, world));
            runs.agents.extend(borne.map(|process| (process, context)));
        }
        runs.unborne.retain(|context| runs.agents.iter().all(|(_, borne)| borne != context));
        runs
    }

    /// Returns the orchestrator that is certain to run a record's run: one that started an agent of it, or else one
    /// that is not known to run another, if there is one for each run.
    fn own(&self, record: &Record, orchestrators: &[u32]) -> Option<u32> {
        // A task belongs to no run.
        let Some(context) = record.context_id.as_ref() else { return orchestrators.first().copied() };
        let runs_of = |pid: u32| self.agents.iter().filter(move |(agent, _)| self.is_below(agent, pid));
        let has_started = |pid: &&u32| runs_of(**pid).any(|(_, run)| *run == context);
        let free: Vec<u32> =
            orchestrators.iter().copied().filter(|pid| runs_of(*pid).next().is_none()).collect();
        let started = orchestrators.iter().find(has_started).copied();
        started.or_else(|| free.first().copied().filter(|_| self.unborne.len() <= free.len()))
    }

    fn is_below(&self, process: &Process, pid: u32) -> bool {
        let mut above = ancestry(&self.world.snapshot.processes, process.id.pid).into_iter();
        above.any(|process| process.id.pid == pid)
    }
}
