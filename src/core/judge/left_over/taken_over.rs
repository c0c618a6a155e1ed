//! Sessions that Claude Code's daemon continues in the background.
//!
//! A window that is moved to the background dies; the daemon starts a new session from its transcript,
//! which adopts its shells: they bear the dead window's variables and are in use (measured with 2.1.330).
//! Only the daemon's roster ties the two, so as long as a process lives that no roster names, any session may have
//! been taken over.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::core::judge::window::agent::Role;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::{ancestry, has_exited};
use crate::core::model::{
    Absence, BackgroundSession, ClaudeCode, Process, ProcessId, Record, RecordDetail, Untrusted,
};

/// The agent that has such a daemon.
pub(crate) const CLAUDE: &str = "claude-code";

/// The sessions in the background, and the processes that may run others.
pub(crate) struct TakenOver<'a> {
    sessions: Vec<&'a BackgroundSession>,
    /// The PID of a daemon or of a background session, or of a possible one, that no roster names.
    pub(crate) untold: Option<u32>,
    /// The PID of a daemon, or of a possible one: it records a session a moment after it takes it over.
    pub(crate) daemon: Option<u32>,
}

impl<'a> TakenOver<'a> {
    /// Reads the rosters of a world.
    pub(crate) fn new(world: &World<'a>) -> Self {
        let records = || world.snapshot.records.iter().map(|record| record.as_ref());
        let mut sessions = Vec::new();
        let mut named: BTreeSet<ProcessId> = BTreeSet::new();
        for record in records() {
            let RecordDetail::ClaudeCode(ClaudeCode::Roster { daemon, sessions: own, is_whole }) =
                &record.detail
            else {
                continue;
            };
            sessions.extend(own);
            if *is_whole {
                named.extend(own.iter().flat_map(|session| [session.process, session.host]).flatten());
                named.extend(records().filter_map(locked_daemon).filter(|id| Some(id.pid) == *daemon));
                named.extend(daemon.and_then(|pid| writer(world, pid, record)));
            }
        }
        let table = &world.snapshot.processes;
        // A daemon lists all that it runs; what else is below it, the keeper of a terminal and a process
        // in that, waits for its next session.
        let is_named = |process: &Process| {
            let near = ancestry(table, process.id.pid).into_iter().take(3);
            near.into_iter().any(|above| named.contains(&above.id))
        };
        let daemons = || table.by_pid.values().filter(|process| may_be_daemons(world, process));
        let untold = daemons().find(|process| !is_named(process)).map(|process| process.id.pid);
        let background = records().filter_map(background).find(|id| {
            world.snapshot.processes.get(id.pid).is_some_and(|process| process.id == *id)
                && !named.contains(id)
        });
        let daemon = daemons().find(|process| !has_exited(process)).map(|process| process.id.pid);
        Self { sessions, untold: untold.or(background.map(|id| id.pid)), daemon }
    }

    /// Returns whether any session continues in the background, or may do so.
    pub(crate) fn is_any(&self, world: &World<'_>) -> bool {
        self.sessions.iter().any(|one| !is_dead(world, one))
    }

    /// Returns a background session that a window may have asked for, if that may have lived then: it moves with all
    /// its shells, whatever session it ran first.
    pub(crate) fn of_another(
        &self,
        world: &World<'_>,
        may_have_asked: impl Fn(Timestamp) -> bool,
    ) -> Option<&'a BackgroundSession> {
        let may_be_its =
            |one: &&&BackgroundSession| one.from.is_some() && one.since.is_none_or(&may_have_asked);
        self.sessions.iter().filter(may_be_its).find(|one| !is_dead(world, one)).copied()
    }

    /// Returns the session that continues the work of this one, or is it.
    pub(crate) fn successor_of(
        &self,
        world: &World<'_>,
        session: &Untrusted,
    ) -> Option<&'a BackgroundSession> {
        let is_it = |one: &&&BackgroundSession| {
            one.from.as_ref() == Some(session) || one.id.as_ref() == Some(session)
        };
        self.sessions.iter().filter(is_it).find(|one| !is_dead(world, one)).copied()
    }
}

/// Returns the daemon that a lock names.
fn locked_daemon(record: &Record) -> Option<ProcessId> {
    let is_lock = matches!(record.detail, RecordDetail::ClaudeCode(ClaudeCode::Daemon));
    stated(record).filter(|_| is_lock)
}

/// Returns the daemon that has written a roster: the one with the number that the roster states, if it was there at
/// that time.
fn writer(world: &World<'_>, pid: u32, roster: &Record) -> Option<ProcessId> {
    let process = world.snapshot.processes.get(pid).filter(|process| !has_exited(process))?;
    let (agent, role) = world.signatures.classify(process)?;
    let was_there = roster.medium().is_this_machines() && !world.is_younger(process, roster);
    (agent.name == CLAUDE && role == Role::Daemon && was_there).then_some(process.id)
}

/// Returns the process of a registry entry that runs in the background.
fn background(record: &Record) -> Option<ProcessId> {
    stated(record).filter(|_| record.detail.claude_status().is_some_and(|status| status.is_background))
}

fn stated(record: &Record) -> Option<ProcessId> {
    let holder = record.holder.as_ref()?;
    Some(ProcessId { pid: holder.pid.as_ref()?.valid()?, start_ticks: holder.start_ticks? })
}

/// Returns whether a process is a daemon, belongs to one, or may do so.
fn may_be_daemons(world: &World<'_>, process: &Process) -> bool {
    let is_told = process.details.as_ref().is_some_and(|details| !details.argv.is_empty());
    match world.signatures.classify(process) {
        Some((agent, role)) => {
            agent.name == CLAUDE && (matches!(role, Role::Daemon | Role::Spare) || !is_told)
        }
        // A process that bears only another agent's name is not one of Claude's.
        None => {
            let mut resembled = world.signatures.resembled(process).peekable();
            let is_others = resembled.peek().is_some() && !resembled.any(|agent| agent.name == CLAUDE);
            !is_others && world.may_be_agents(process)
        }
    }
}

/// Returns whether the runner of a session is proven dead: its process and the one that keeps its terminal.
pub(crate) fn is_dead(world: &World<'_>, session: &BackgroundSession) -> bool {
    let table = &world.snapshot.processes;
    let is_dead = |id: &ProcessId| match table.get(id.pid) {
        // If its clock may count from elsewhere, another start proves nothing.
        Some(process) => has_exited(process) || process.has_start(id.start_ticks) == Some(false),
        None => table.absence(id.pid) == Absence::Proven,
    };
    let named = || [session.process, session.host].into_iter().flatten();
    named().count() > 0 && named().all(|id| is_dead(&id))
}
