//! The snapshot with what identity adds: windows, and the sessions that are certain.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};

use super::agent::{Role as ProcessRole, Signatures};
use super::bound::Bonds;
use super::process::{Process, ProcessState};
use super::record::{Binding, Format, Record, Row};
use super::snapshot::{Database, Snapshot};
use super::text::Untrusted;
use super::window::{Window, windows};

/// How much later than a record's last write a process may have started and still be the one
/// that wrote it: 2 s for clocks and file times, and one tick of at most 10 ms.
pub const SLACK: SignedDuration = SignedDuration::from_millis(2_010);

/// The snapshot with its windows and certain sessions.
pub struct World<'a> {
    /// What was read.
    pub snapshot: &'a Snapshot,
    /// How agents look.
    pub signatures: &'a Signatures,
    /// Every running agent.
    pub windows: Vec<Window<'a>>,
    /// The session that the agent's own registry proves for a PID: PID and start both match.
    pub sessions: BTreeMap<u32, &'a Untrusted>,
    /// What agents' own hooks told about who runs which session.
    pub bonds: Bonds<'a>,
    /// Every process that could own a record, for all that was read of it, and the words for it.
    pub possible_agents: Vec<(PossibleAgent<'a>, Untrusted)>,
    /// The records of each session.
    by_session: HashMap<&'a Untrusted, Vec<&'a Record>>,
    /// The registry's records of each PID, whether or not they still fit.
    by_registered_pid: BTreeMap<u32, Vec<&'a Record>>,
    /// Living processes of other PID namespaces, by their number there.
    by_inner_pid: BTreeMap<u32, Vec<&'a Process>>,
}

/// A process that could be an agent.
#[derive(Clone, Copy, Debug)]
pub enum PossibleAgent<'a> {
    /// It is one; its name.
    Known(&'a Process, &'a str),
    /// It bears an agent's name, or too little could be read to exclude it.
    Unproven(&'a Process),
    /// Nothing could be read of this PID.
    Hidden(u32),
}

impl<'a> World<'a> {
    /// Finds windows and certain sessions.
    pub fn new(snapshot: &'a Snapshot, signatures: &'a Signatures) -> Self {
        let sessions = certain_sessions(snapshot);
        let registered: BTreeSet<u32> = sessions.keys().copied().collect();
        let windows = windows(&snapshot.processes, signatures, &registered);
        Self {
            bonds: Bonds::new(snapshot),
            possible_agents: possible_agents(snapshot, signatures),
            by_session: by_session(snapshot),
            by_registered_pid: by_registered_pid(snapshot),
            by_inner_pid: by_inner_pid(snapshot),
            snapshot,
            signatures,
            windows,
            sessions,
        }
    }

    /// Returns the records of a session.
    pub fn records_of(&self, session: &Untrusted) -> &[&'a Record] {
        self.by_session.get(session).map_or(&[], Vec::as_slice)
    }

    /// Returns the agents' own registry records that name a PID, fitting or not.
    pub fn registered(&self, pid: u32) -> &[&'a Record] {
        self.by_registered_pid.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Returns the living processes that have this number in other PID namespaces.
    pub fn inner(&self, pid: u32) -> &[&'a Process] {
        self.by_inner_pid.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Returns the database that a row is in.
    pub fn database(&self, row: &Row) -> Option<&'a Database> {
        self.snapshot.databases.iter().find(|database| database.name == row.database)
    }

    /// Returns when a process started, by the wall clock.
    pub fn started_at(&self, process: &Process) -> Option<Timestamp> {
        self.snapshot.host.wall_clock(process.id.start_ticks)
    }

    /// Returns whether `process` started after `moment`, beyond doubt.
    pub fn is_born_after(&self, process: &Process, moment: Timestamp) -> bool {
        self.started_at(process).is_some_and(|started| self.is_after(started, moment))
    }

    /// Returns whether a moment came after another, whatever the clock did in between.
    pub fn is_after(&self, later: Timestamp, earlier: Timestamp) -> bool {
        let slack = SLACK + self.snapshot.host.clock_doubt;
        earlier.checked_add(slack).is_ok_and(|earlier| later > earlier)
    }

    /// Returns the PIDs that are certain to run a session: those of notes, and those of the
    /// registry.
    pub fn pids_of_session(&self, session: &Untrusted) -> impl Iterator<Item = u32> {
        let noted = self.bonds.running(session).iter().map(|(_, process)| process.id.pid);
        let registered = self.sessions.iter().filter(move |(_, id)| **id == session).map(|(pid, _)| *pid);
        noted.chain(registered)
    }

    /// Returns the session that a process is certain to run. What its own hook said comes first:
    /// older agents leave their registry as it was when a window turns to another session.
    pub fn session_of(&self, pid: u32) -> Option<&'a Untrusted> {
        self.bonds.of(pid).map(|note| &note.session_id).or_else(|| self.sessions.get(&pid).copied())
    }

    /// Returns whether a process is not certain to run another session than this.
    pub fn may_run(&self, pid: u32, session: &Untrusted) -> bool {
        let is_noted = || self.bonds.of(pid).is_some_and(|note| note.session_id == *session);
        self.sessions.get(&pid).is_none_or(|certain| *certain == session) || is_noted()
    }
}

/// Reads the agents' own registries: a record whose PID runs with the recorded start is
/// certain. A zombie still matches PID and start, so it must not have exited.
fn certain_sessions(snapshot: &Snapshot) -> BTreeMap<u32, &Untrusted> {
    snapshot
        .records
        .iter()
        .filter(|record| record.format == Format::ClaudeCode)
        .filter_map(|record| Some((registered_pid(snapshot, record)?, record.session_id.as_ref()?)))
        .collect()
}

fn registered_pid(snapshot: &Snapshot, record: &Record) -> Option<u32> {
    let holder = record.holder.as_ref().filter(|holder| holder.binding == Binding::Registry)?;
    let pid = holder.pid.as_ref()?.valid()?;
    let process = snapshot.processes.get(pid)?;
    (holder.start_ticks? == process.id.start_ticks && !has_exited(process)).then_some(pid)
}

impl PossibleAgent<'_> {
    /// Names it for a sentence.
    pub fn name(&self) -> String {
        match self {
            Self::Known(process, _) | Self::Unproven(process) => {
                format!("{} {}", process.comm, process.id.pid)
            }
            Self::Hidden(pid) => format!("process {pid}, which cannot be read,"),
        }
    }
}

fn possible_agents<'a>(
    snapshot: &'a Snapshot,
    signatures: &'a Signatures,
) -> Vec<(PossibleAgent<'a>, Untrusted)> {
    let table = &snapshot.processes;
    let candidates = signatures.candidates();
    let possible = |pid: &u32| {
        let Some(process) = table.get(*pid) else { return Some(PossibleAgent::Hidden(*pid)) };
        if has_exited(process) {
            return None;
        }
        match signatures.classify(process) {
            Some((agent, ProcessRole::Agent | ProcessRole::Spare)) => {
                Some(PossibleAgent::Known(process, &agent.name))
            }
            Some((_, ProcessRole::Launcher | ProcessRole::Helper | ProcessRole::Daemon)) => None,
            None => {
                let is_unread = !is_read(process) && candidates.may_be(process.comm.raw());
                (is_unread || signatures.resembles(process)).then_some(PossibleAgent::Unproven(process))
            }
        }
    };
    let with_words =
        |agent: PossibleAgent<'a>| (agent, format!("{} lives and could be the owner", agent.name()).into());
    table.listed.iter().filter_map(possible).map(with_words).collect()
}

/// Returns whether enough was read of a process to say that it is no agent.
fn is_read(process: &Process) -> bool {
    process.details.as_ref().is_some_and(|details| details.exe.is_some() && !details.argv.is_empty())
}

fn by_session(snapshot: &Snapshot) -> HashMap<&Untrusted, Vec<&Record>> {
    let mut index: HashMap<&Untrusted, Vec<&Record>> = HashMap::new();
    for record in &snapshot.records {
        if let Some(session) = record.session_id.as_ref() {
            index.entry(session).or_default().push(record);
        }
    }
    index
}

fn by_registered_pid(snapshot: &Snapshot) -> BTreeMap<u32, Vec<&Record>> {
    let mut index: BTreeMap<u32, Vec<&Record>> = BTreeMap::new();
    for record in &snapshot.records {
        let holder = record.holder.as_ref().filter(|holder| holder.binding == Binding::Registry);
        if let Some(pid) = holder.and_then(|holder| holder.pid.as_ref()?.valid()) {
            index.entry(pid).or_default().push(record);
        }
    }
    index
}

fn by_inner_pid(snapshot: &Snapshot) -> BTreeMap<u32, Vec<&Process>> {
    let inner = |process: &Process| {
        let numbers = &process.details.as_ref()?.ns_pids;
        numbers.last().copied().filter(|_| numbers.len() > 1 && !has_exited(process))
    };
    let mut index: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
    for process in snapshot.processes.by_pid.values() {
        if let Some(number) = inner(process) {
            index.entry(number).or_default().push(process);
        }
    }
    index
}

/// Returns whether a process is over: its pidfd says so, or it is a zombie of one thread.
pub fn has_exited(process: &Process) -> bool {
    process.has_exited.unwrap_or(process.state == ProcessState::Zombie)
}
