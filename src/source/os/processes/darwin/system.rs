//! The seam to macOS: everything that `linux` provides, as far as it is known here.

use std::collections::BTreeMap;

use crate::core::judge::window::agent::Candidates;
use crate::core::model::snapshot::process::MAX_DEPTH;
use crate::core::model::{Details, Process, ProcessId, ProcessState, ProcessTable, Untrusted};
use crate::source::os::processes::darwin::facts::{Facts, TICKS};
use crate::source::os::processes::darwin::look::{self, Reading};
pub(crate) use crate::source::os::processes::unread::*;
use crate::source::os::processes::wanted::{Depth, DetailTargets};

/// Returns how many ticks a second has.
pub(crate) fn ticks_per_second() -> u64 {
    TICKS
}

/// Returns whether exactly this process lives; `None` if it may not be read.
pub(crate) fn lives(id: ProcessId) -> Option<bool> {
    match look::facts(id.pid) {
        Reading::Read((facts, _)) => Some(facts.id() == id && facts.process().state != ProcessState::Zombie),
        Reading::Gone => Some(false),
        Reading::Unreadable => None,
    }
}

/// Returns the arguments of a process as they are now, without the secrets in them.
pub(crate) fn arguments(pid: u32) -> Vec<Untrusted> {
    look::details(&[(pid, 0)]).pop().map(|(_, details)| details.argv).unwrap_or_default()
}

/// Returns whether a process is another user's.
pub(crate) fn is_others(pid: u32, uid: u32) -> bool {
    matches!(look::facts(pid), Reading::Read((_, theirs)) if theirs != uid)
}

/// State that one scan leaves for the next.
#[derive(Default)]
pub(crate) struct Scanner {
    /// The possible agents that were seen last, and their states.
    agents: BTreeMap<ProcessId, ProcessState>,
}

impl Scanner {
    /// Returns whether a possible agent has started, stopped or continued since the last look.
    pub(crate) fn has_news(&mut self, candidates: &Candidates, _depth: Depth) -> bool {
        let read = look::all().0.into_iter().filter_map(|pid| match look::facts(pid) {
            Reading::Read((facts, _)) => Some(facts.process()),
            Reading::Unreadable | Reading::Gone => None,
        });
        let agents = agents(read.filter(|process| candidates.may_be(process.comm.raw())));
        let is_any = agents.iter().any(|(id, state)| self.agents.get(id) != Some(state));
        self.agents = agents;
        is_any
    }

    /// Reads all processes anew, however deep a look was asked for.
    pub(crate) fn scan(&mut self, wanted: DetailTargets<'_>, _depth: Depth) -> ProcessTable {
        let (pids, partial) = look::all();
        let mut table = ProcessTable { partial, ..ProcessTable::default() };
        let (mut users, mut renamed) = (BTreeMap::new(), Vec::new());
        for pid in pids {
            match look::facts(pid) {
                Reading::Read((facts, uid)) => {
                    renamed.extend(is_renamed(&facts, wanted.candidates).then_some(pid));
                    users.insert(pid, uid);
                    table.by_pid.insert(pid, facts.process());
                }
                Reading::Unreadable => {}
                // It has exited since it was listed.
                Reading::Gone => continue,
            }
            table.listed.insert(pid);
        }
        ask_twice(&mut table, wanted);
        let those = wanted.those_who_matter(&table, renamed.into_iter());
        let those: Vec<(u32, u32)> =
            those.into_iter().filter_map(|pid| Some((pid, *users.get(&pid)?))).collect();
        for (pid, details) in look::details(&those) {
            take_over(&mut table, pid, details);
        }
        let possible = table.by_pid.values().filter(|process| wanted.candidates.may_be(process.comm.raw()));
        self.agents = agents(possible.cloned());
        table
    }
}

fn agents(all: impl Iterator<Item = Process>) -> BTreeMap<ProcessId, ProcessState> {
    all.map(|process| (process.id, process.state)).collect()
}

/// Asks for each process that a record names and the list lacks: one that is there after all shows that the
/// list is not whole.
fn ask_twice(table: &mut ProcessTable, wanted: DetailTargets<'_>) {
    for pid in wanted.named {
        if !table.listed.contains(pid) && !look::is_gone(*pid) {
            table.listed.insert(*pid);
            table.partial.get_or_insert_with(|| format!("the system's list of processes lacks PID {pid}"));
        }
    }
}

/// Adds details to the process that they were read of; another process may have its PID now.
fn take_over(table: &mut ProcessTable, pid: u32, details: Details) {
    let Some(process) = table.by_pid.get_mut(&pid) else { return };
    match look::facts(pid) {
        Reading::Read((facts, _)) if facts.id() == process.id => process.details = Some(details),
        Reading::Read(_) | Reading::Gone => table.forget(pid),
        Reading::Unreadable => {}
    }
}

/// Returns whether a job of a terminal runs an agent's program under a name that is not the agent's.
fn is_renamed(facts: &Facts, candidates: &Candidates) -> bool {
    let is_known = candidates.may_be(facts.process().comm.raw());
    let runs = || look::executable(facts.pid).is_some_and(|exe| candidates.may_run(exe.raw()));
    facts.is_job() && !is_known && runs()
}

/// Reads one process and its ancestors.
pub(crate) fn chain(pid: u32, candidates: &Candidates) -> ProcessTable {
    let partial = Some("only one process and its parents were read".to_owned());
    let mut table = ProcessTable { partial, ..ProcessTable::default() };
    let mut next = pid;
    while next != 0 && table.listed.len() < MAX_DEPTH && table.listed.insert(next) {
        let Reading::Read((facts, uid)) = look::facts(next) else {
            table.listed.remove(&next);
            break;
        };
        let mut process = facts.process();
        let exe = look::executable(next);
        let matters = candidates.may_be(process.comm.raw())
            || exe.as_ref().is_some_and(|exe| candidates.may_run(exe.raw()));
        let is_asked = next == pid && pid != crate::source::os::processes::own::own_pid();
        process.details = match matters || is_asked {
            true => look::details(&[(next, uid)]).pop().map(|(_, details)| details),
            false => Some(Details { exe, ..Details::default() }),
        };
        next = process.parent;
        table.by_pid.insert(process.id.pid, process);
    }
    table
}
