//! The processes that successive looks have proven dead.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::core::judge::tombstone::may_be;
use crate::core::judge::window::binding::holder::Holder;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{
    Absence, Descent, Process, ProcessId, Reason, RecordView, Report, Role, Snapshot, Tombstone, Untrusted,
    VerdictState,
};

/// What one look adds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lesson {
    /// The processes proven dead.
    pub learnt: Vec<Tombstone>,
    /// The processes whose tombstone was wrong: they live.
    pub refuted: Vec<ProcessId>,
    /// The survivors, with the dead windows they were seen below.
    pub descents: Vec<Descent>,
    /// The kept survivors that have ended.
    pub ended: Vec<ProcessId>,
}

impl Lesson {
    /// Adds what a later look has learnt. It repeats every descent that is not kept yet.
    pub(crate) fn add(&mut self, later: Self) {
        let Self { learnt, refuted, descents, ended } = later;
        self.learnt.extend(learnt);
        self.refuted.extend(refuted);
        (self.descents, self.ended) = (descents, ended);
    }

    /// Returns whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        !self.has_stones() && self.descents.is_empty()
    }

    /// Returns whether any of it is about tombstones.
    pub(crate) fn has_stones(&self) -> bool {
        !self.learnt.is_empty() || !self.refuted.is_empty()
    }
}

/// Learns from looks; remembers the living until their end is proven, as an agent removes its own entry when it ends,
/// and runs for a moment without one.
#[derive(Debug, Default)]
pub struct TombstoneKeeper {
    living: NamedProcesses,
}

/// Processes that are named with PID and start, and what is known of the window of each.
type NamedProcesses = BTreeMap<ProcessId, Facts>;

/// What is known of the window of a process.
#[derive(Debug, Default)]
struct Facts {
    /// The session that it runs.
    session: Option<Untrusted>,
    /// Its name.
    name: Option<Untrusted>,
}

impl TombstoneKeeper {
    /// Takes in a look and its report.
    pub fn learn(&mut self, snapshot: &Snapshot, report: &Report) -> Lesson {
        let (mut dead, mut living) = named(snapshot, report);
        add_names(&mut living, report);
        for (id, facts) in std::mem::take(&mut self.living) {
            let goes_on = lives_here(id, snapshot) || proof(id, snapshot).is_none();
            let named = if goes_on { &mut living } else { &mut dead };
            add(named, id, facts);
        }
        self.living = living;
        let is_new = |id: &ProcessId, facts: &Facts| {
            let known = snapshot.tombstone(*id);
            known.is_none_or(|known| {
                let is_seen = || seen_alive_at(*id, snapshot).is_some();
                known.session_id.is_none() && facts.session.is_some()
                    || known.name.is_none() && facts.name.is_some()
                    || known.seen_alive_at.is_none() && is_seen()
            })
        };
        let new = dead.into_iter().filter(|(id, facts)| is_new(id, facts));
        Lesson {
            learnt: new.filter_map(|(id, facts)| stone(id, facts, snapshot)).collect(),
            refuted: refuted(snapshot),
            ..Lesson::default()
        }
    }
}

/// Returns the processes that records and notes name with PID and start: the dead, and the living.
fn named(snapshot: &Snapshot, report: &Report) -> (NamedProcesses, NamedProcesses) {
    let (mut dead, mut living) = (NamedProcesses::new(), NamedProcesses::new());
    let by_record = report.records().filter_map(|record| Some((agent_of(record)?, record)));
    for (id, record) in by_record {
        let named = match (record.verdict.state, record.verdict.reason) {
            (VerdictState::Dead, reason) if is_of_a_process(reason) => &mut dead,
            (VerdictState::Alive, _) if lives_here(id, snapshot) => &mut living,
            (VerdictState::Dead | VerdictState::Alive | VerdictState::Unknown, _) => continue,
        };
        add_session(named, id, record.session_id.as_ref());
    }
    for note in &snapshot.bound.notes {
        let is_ours = snapshot.host.pid_namespace == Some(note.pid_namespace);
        let named = match note.holder(snapshot) {
            Holder::Gone(reason) if is_of_a_process(reason) && is_ours => &mut dead,
            Holder::Lives(_) if is_ours && lives_here(note.process(), snapshot) => &mut living,
            Holder::Gone(_) | Holder::Lives(_) | Holder::Unknown(_) => continue,
        };
        add_session(named, note.process(), Some(&note.session_id));
    }
    (dead, living)
}

/// Adds the names of the windows that live: an agent that ends cleanly removes the entry that has its name.
fn add_names(living: &mut NamedProcesses, report: &Report) {
    for window in &report.windows {
        let id = ProcessId { pid: window.pid, start_ticks: window.start_ticks };
        if let Some(facts) = living.get_mut(&id) {
            facts.name = window.name.clone().filter(|name| !name.is_empty());
        }
    }
}

fn add_session(named: &mut NamedProcesses, id: ProcessId, session: Option<&Untrusted>) {
    add(named, id, Facts { session: session.cloned(), name: None });
}

/// Adds what is not known yet.
fn add(named: &mut NamedProcesses, id: ProcessId, facts: Facts) {
    let kept = named.entry(id).or_default();
    kept.session = kept.session.take().or(facts.session);
    kept.name = kept.name.take().or(facts.name);
}

/// Returns the agent that a record names with PID and start.
fn agent_of(record: &RecordView) -> Option<ProcessId> {
    let holder = record.holder.as_ref().filter(|holder| holder.role == Role::Agent)?;
    Some(ProcessId { pid: holder.pid.as_ref()?.valid()?, start_ticks: holder.start_ticks? })
}

/// Returns whether a process is seen to live under this very number: not under one that it has in
/// another namespace.
fn lives_here(id: ProcessId, snapshot: &Snapshot) -> bool {
    snapshot.processes.get(id.pid).is_some_and(|process| process.id == id && !has_exited(process))
}

/// Returns whether a death was proven by the fate of the process in this boot.
fn is_of_a_process(reason: Reason) -> bool {
    matches!(reason, Reason::NoProcess | Reason::OtherProcess | Reason::Exited)
}

/// Makes a tombstone, if this look itself proves the death.
fn stone(id: ProcessId, facts: Facts, snapshot: &Snapshot) -> Option<Tombstone> {
    let host = &snapshot.host;
    // A start of an earlier boot may still lie ahead in this one.
    host.wall_clock(id.start_ticks).filter(|started| *started <= snapshot.taken_at)?;
    let (reason, pidfd_inode) = proof(id, snapshot)?;
    Some(Tombstone {
        id,
        pidfd_inode,
        host: host.name.as_str().into(),
        boot_id: host.boot_id.as_deref()?.into(),
        pid_namespace: host.pid_namespace?,
        time_namespace: host.time_namespace?,
        session_id: facts.session,
        name: facts.name,
        seen_alive_at: seen_alive_at(id, snapshot),
        proven_at: snapshot.taken_at,
        proven_tick: host.tick_of(snapshot.taken_at),
        reason,
    })
}

/// Returns when an earlier look saw a process live.
fn seen_alive_at(id: ProcessId, snapshot: &Snapshot) -> Option<Timestamp> {
    let mut seen = snapshot.seen_agents.iter().filter(|seen| seen.last_seen_at <= snapshot.taken_at);
    seen.find(|seen| seen.id == id).map(|seen| seen.last_seen_at)
}

/// Returns what proves that no process with this PID and start lives in our own namespace.
pub(super) fn proof(id: ProcessId, snapshot: &Snapshot) -> Option<(Reason, Option<u64>)> {
    let table = &snapshot.processes;
    let has_number = |process: &&Process| process.inner_pids().unwrap_or_default().contains(&id.pid);
    if table.by_pid.values().filter(has_number).any(|process| may_be(process, id.start_ticks)) {
        return None;
    }
    let Some(process) = table.get(id.pid) else {
        return (table.absence(id.pid) == Absence::Proven).then_some((Reason::NoProcess, None));
    };
    if !process.has_start(id.start_ticks)? {
        return Some((Reason::OtherProcess, None));
    }
    // Only a pidfd vouches for all threads.
    (process.has_exited == Some(true)).then_some((Reason::Exited, process.pidfd_inode))
}

/// Returns the tombstones of processes that live.
fn refuted(snapshot: &Snapshot) -> Vec<ProcessId> {
    let by_pid = snapshot.processes.by_pid.values().filter(|process| !has_exited(process));
    let own = by_pid.clone().map(|process| (process, process.id.pid));
    let inner = by_pid
        .flat_map(|process| process.inner_pids().unwrap_or_default().iter().map(move |pid| (process, *pid)));
    let id = |pid, start_ticks| ProcessId { pid, start_ticks };
    own.chain(inner)
        .filter(|_| !snapshot.tombstones.is_empty())
        .map(|(process, pid)| id(pid, process.id.start_ticks))
        .filter(|id| snapshot.tombstone(*id).is_some())
        .collect()
}
