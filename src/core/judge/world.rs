//! The snapshot with what identity adds: windows, and the sessions that are certain.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::clock::{SLACK, is_after};
use crate::core::judge::window::agent::Signatures;
use crate::core::judge::window::binding::index::Bindings;
use crate::core::judge::window::possible_agent::{PossibleAgent, possible_agents, unplaced};
use crate::core::judge::window::stand_in::is_played;
use crate::core::judge::window::{Window, aside, windows};
use crate::core::model::snapshot::clock::Moments;
use crate::core::model::snapshot::home::folder_of;
use crate::core::model::snapshot::host::INITIAL_PID_NAMESPACE;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{
    Binding, ClockHistory, ClockReading, Database, Domain, Evidence, Format, Holder, Host, Medium, Platform,
    Process, ProcessId, Record, Repo, RepoSort, Row, SeenAgent, Snapshot, Tombstone, Trace, Untrusted,
    Worktree,
};

/// The snapshot with its windows and certain sessions.
pub(crate) struct World<'a> {
    /// What was read.
    pub(crate) snapshot: &'a Snapshot,
    /// How agents look.
    pub(crate) signatures: &'a Signatures,
    /// Every running agent.
    pub(crate) windows: Vec<Window<'a>>,
    /// The session that the agent's own registry proves for a PID: PID and start both match.
    pub(crate) sessions: BTreeMap<u32, &'a Untrusted>,
    /// The agents whose own entries show that they are not windows, and the background session that each shows.
    pub(crate) aside: BTreeMap<u32, Option<&'a Untrusted>>,
    /// When the machine booted, if that is known, and that as evidence against what was last written before.
    pub(crate) booted: Option<(Timestamp, Evidence)>,
    /// The readings of the wall clock until the look.
    clock: ClockHistory,
    /// Reports of agents' own hooks about which process runs which session.
    pub(crate) bindings: Bindings<'a>,
    /// Every process that could own a record, for all that was read of it, and that as evidence.
    pub(crate) possible_agents: Vec<(PossibleAgent<'a>, Evidence)>,
    /// Of these the ones that count PIDs in another namespace than claimtop, or may do so.
    pub(crate) outsiders: Vec<PossibleAgent<'a>>,
    /// Every process whose namespace could not be read, agent or not.
    pub(crate) unplaced: Vec<PossibleAgent<'a>>,
    /// Every listed process whose numbers could not be read, with what was read of it.
    pub(crate) unread: Vec<Option<&'a Process>>,
    /// The PIDs that are certain to run each session.
    by_certain_session: HashMap<&'a Untrusted, Vec<u32>>,
    /// The windows' processes by each of their arguments.
    by_argument: HashMap<&'a str, Vec<&'a Process>>,
    /// The trees that can be worked in, by folder.
    by_folder: HashMap<&'a Path, (&'a Repo, &'a Worktree)>,
    /// The numbers of the repositories, by their common directories.
    by_common_dir: HashMap<&'a Path, usize>,
    by_session: HashMap<&'a Untrusted, Vec<&'a Record>>,
    /// The registry's records of each PID, whether or not they still fit.
    by_registered_pid: BTreeMap<u32, Vec<&'a Record>>,
    /// Tombstones by the session that each process ran.
    tombstone_by_session: HashMap<&'a Untrusted, &'a Tombstone>,
    /// Living processes of other PID namespaces, by their number there.
    by_inner_pid: BTreeMap<u32, Vec<&'a Process>>,
    /// The living process of each process group and session that started first, by its number.
    by_group: HashMap<u32, &'a Process>,
    traces: HashMap<ProcessId, &'a Trace>,
    /// The agents that were seen alive, also in earlier looks, by their PIDs.
    seen: HashMap<u32, Vec<&'a SeenAgent>>,
}

/// How a process's start relates to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Birth {
    /// It was there at that time, or nothing shows that it was not.
    Before,
    /// It started later, beyond doubt.
    After,
    /// They are by two clocks, or one of them lies ahead of now, or the clock may have been set in between.
    Unclear,
}

impl<'a> World<'a> {
    /// Finds windows and certain sessions.
    pub(crate) fn new(snapshot: &'a Snapshot, signatures: &'a Signatures) -> Self {
        let entries = fitting_entries(snapshot);
        let sessions = certain_sessions(&entries);
        let registered: BTreeSet<u32> = sessions.keys().copied().collect();
        let mut windows = windows(&snapshot.processes, signatures, &registered);
        let aside = aside(&entries);
        windows.retain(|window| !aside.contains_key(&window.process.id.pid));
        let mut by_certain_session: HashMap<&Untrusted, Vec<u32>> = HashMap::new();
        sessions.iter().for_each(|(pid, id)| by_certain_session.entry(*id).or_default().push(*pid));
        let possible_agents = possible_agents(snapshot, signatures);
        let agents = possible_agents.iter().map(|(agent, _)| *agent);
        Self {
            booted: booted(snapshot),
            clock: clock(snapshot),
            bindings: Bindings::new(snapshot, &entries),
            outsiders: agents.clone().filter(PossibleAgent::may_be_outside).collect(),
            unplaced: unplaced(snapshot, agents),
            unread: unread(snapshot),
            aside,
            by_certain_session,
            by_argument: by_argument(&windows),
            by_folder: by_folder(snapshot),
            by_common_dir: by_common_dir(snapshot),
            possible_agents,
            by_session: by_session(snapshot),
            by_registered_pid: by_registered_pid(snapshot),
            by_inner_pid: by_inner_pid(snapshot),
            by_group: by_group(snapshot),
            traces: snapshot.traces.iter().map(|trace| (trace.id, trace)).collect(),
            seen: seen(snapshot),
            tombstone_by_session: tombstone_by_session(snapshot),
            snapshot,
            signatures,
            windows,
            sessions,
        }
    }

    /// Returns the agents that were seen alive under a PID, also in earlier looks.
    pub(crate) fn seen(&self, pid: u32) -> &[&'a SeenAgent] {
        self.seen.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Returns the traces that a process bears, if they were read.
    pub(crate) fn trace_of(&self, id: ProcessId) -> Option<&'a Trace> {
        self.traces.get(&id).copied()
    }

    pub(crate) fn records_of(&self, session: &Untrusted) -> &[&'a Record] {
        self.by_session.get(session).map_or(&[], Vec::as_slice)
    }

    /// Returns the agents' own registry records that name a PID, fitting or not.
    pub(crate) fn registered(&self, pid: u32) -> &[&'a Record] {
        self.by_registered_pid.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Returns the tombstone of a process that ran a session: no evidence against one that resumed it.
    pub(crate) fn tombstone_of(&self, session: &Untrusted) -> Option<&'a Tombstone> {
        self.tombstone_by_session.get(session).copied()
    }

    /// Returns the living process of the group or session with this number that started first, if its leader has ended: a
    /// start script ends, and its PID may stand for the process that it started.
    pub(crate) fn survivor(&self, number: u32) -> Option<&'a Process> {
        let has_leader = self.snapshot.processes.by_pid.contains_key(&number);
        self.by_group.get(&number).copied().filter(|_| !has_leader)
    }

    /// Returns the living processes that have this number in other PID namespaces.
    pub(crate) fn inner(&self, pid: u32) -> &[&'a Process] {
        self.by_inner_pid.get(&pid).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn database(&self, row: &Row) -> Option<&'a Database> {
        self.snapshot.databases.iter().find(|database| database.name == row.database)
    }

    /// Returns when a process started, by the wall clock. In a time namespace that was set back, starts before its
    /// zero wrap round (time_namespaces(7)): a start after now is meaningless.
    pub(crate) fn started_at(&self, process: &Process) -> Option<Timestamp> {
        let started = self.snapshot.host.wall_clock(process.id.start_ticks)?;
        (!self.is_after(started, self.snapshot.taken_at)).then_some(started)
    }

    /// Returns how a process's start relates to a moment that was written on a medium.
    pub(crate) fn born(&self, process: &Process, (moment, medium): (Timestamp, Medium)) -> Birth {
        if self.snapshot.host.boot_at.is_none() {
            return Birth::Before;
        }
        let Some(started) = self.started_at(process) else { return Birth::Unclear };
        if self.is_after(moment, self.snapshot.taken_at) {
            return Birth::Unclear;
        }
        let seems_later = started.duration_since(moment) > SLACK;
        if medium.is_this_machines() && self.is_born_after(process, moment) {
            Birth::After
        } else if !seems_later || medium.is_this_machines() && self.had_begun_by(process, moment) {
            Birth::Before
        } else {
            Birth::Unclear
        }
    }

    /// Returns how a process's start relates to a record's last write. A copy can keep the time of an earlier write,
    /// and only its inode shows a later change; a rename, `chmod` or a restored backup shows the same. If the process
    /// started in between, nothing is certain, unless the file already existed at its last write: then it is not a
    /// copy.
    pub(crate) fn birth(&self, process: &Process, record: &Record) -> Birth {
        let born = |moment| self.born(process, (moment, record.medium()));
        let written = born(record.written_at);
        let is_copy = record.made_at.is_none_or(|made_at| made_at.duration_since(record.written_at) > SLACK);
        // Claimtop's own demo dates its files back.
        let may_be_newer = written == Birth::After && is_copy && !is_played(process);
        match record.changed_at.filter(|_| may_be_newer) {
            Some(changed_at) if born(changed_at) != Birth::After => Birth::Unclear,
            Some(_) | None => written,
        }
    }

    /// Returns whether a process started after a record was last written, and put where it is, beyond doubt.
    pub(crate) fn is_younger(&self, process: &Process, record: &Record) -> bool {
        self.birth(process, record) == Birth::After
    }

    /// Returns whether `process` started after `moment`, beyond doubt.
    pub(crate) fn is_born_after(&self, process: &Process, moment: Timestamp) -> bool {
        let Some(started) = self.started_at(process) else { return false };
        // The demo dates its files by the clock of its own start.
        if is_played(process) {
            return self.is_after(started, moment);
        }
        let times = self.up_for(process.id.start_ticks).zip(self.moments_of(moment));
        times.is_some_and(|(start, written)| start.saturating_sub(written.latest) > SLACK)
    }

    /// Returns whether `process` was there at a moment of the wall clock, however that was set since.
    fn had_begun_by(&self, process: &Process, moment: Timestamp) -> bool {
        let times = self.up_for(process.id.start_ticks).zip(self.moments_of(moment));
        times.is_some_and(|(start, written)| start.saturating_sub(written.earliest) <= SLACK)
    }

    /// Returns how long the machine had been up at a process's start; on a Mac, which states starts by the wall clock,
    /// how long after 1970 that was.
    pub(crate) fn up_for(&self, start_ticks: u64) -> Option<SignedDuration> {
        self.snapshot.host.up_for(start_ticks)
    }

    /// Returns the readings of the wall clock until the look.
    pub(crate) fn clock(&self) -> &ClockHistory {
        &self.clock
    }

    /// Returns when, as [`Self::up_for`] counts, the wall clock may have shown a time.
    pub(crate) fn moments_of(&self, moment: Timestamp) -> Option<Moments> {
        match self.snapshot.host.platform {
            Platform::Linux | Platform::Other => self.clock.moments_of(moment),
            Platform::MacOs => {
                let earliest = moment.duration_since(Timestamp::UNIX_EPOCH);
                let latest = earliest.saturating_add(self.snapshot.host.clock_doubt);
                Some(Moments { earliest, latest })
            }
        }
    }

    /// Returns whether a moment came after another, whatever the clock did in between.
    pub(crate) fn is_after(&self, later: Timestamp, earlier: Timestamp) -> bool {
        is_after(&self.snapshot.host, later, earlier)
    }

    /// Returns the PIDs that are certain to run a session: those of notes, and those of the
    /// registry.
    pub(crate) fn pids_of_session(&self, session: &Untrusted) -> impl Iterator<Item = u32> + use<'_, 'a> {
        let noted = self.bindings.running(session).iter().map(|(_, process)| process.id.pid);
        let registered = self.by_certain_session.get(session).into_iter().flatten().copied();
        noted.chain(registered)
    }

    /// Returns whether a process is not certain to run another session than this.
    pub(crate) fn may_run(&self, pid: u32, session: &Untrusted) -> bool {
        let is_noted = || self.bindings.newest_of(pid).is_some_and(|note| note.session_id == *session);
        self.sessions.get(&pid).is_none_or(|certain| *certain == session) || is_noted()
    }

    /// Returns whether every process of the machine was to be seen: from a container only its own are.
    pub(crate) fn sees_whole_machine(&self) -> bool {
        self.snapshot.host.pid_namespace == Some(INITIAL_PID_NAMESPACE)
            && self.snapshot.processes.partial.is_none()
    }

    /// Returns whether a process is an agent of any sort, or could be one.
    pub(crate) fn may_be_agents(&self, process: &Process) -> bool {
        self.signatures.classify(process).is_some()
            || self.possible_agents.iter().any(|(agent, _)| match agent {
                PossibleAgent::Known(possible, _) | PossibleAgent::Unproven(possible) => {
                    possible.id == process.id
                }
                PossibleAgent::Hidden(pid) => *pid == process.id.pid,
            })
    }

    /// Returns whether a record lies in a home, and the folders that a process keeps records in, as it reaches them
    /// itself, are all different from the one where the record lies. Devices and inodes prove nothing about what is
    /// not this machine's own, nor if one file system shows the folders of another.
    pub(crate) fn is_of_other_home(&self, record: &Record, process: &Process) -> bool {
        let details = process.details.as_ref().filter(|details| details.has_certain_homes);
        let homes = details.and_then(|details| details.homes.as_ref());
        let folder = record.location.path().and_then(|path| folder_of(&self.snapshot.homes, path));
        let pair = homes.zip(folder).filter(|_| record.medium().is_this_machines());
        pair.is_some_and(|(homes, folder)| !homes.contains(&folder.id))
    }

    /// Returns the windows' processes that were started with an argument, or with it as the value
    /// of `--resume`.
    pub(crate) fn started_with(&self, argument: &str) -> &[&'a Process] {
        self.by_argument.get(argument).map_or(&[], Vec::as_slice)
    }

    /// Returns the repository that a record lies in, or works in.
    pub(crate) fn repo_of(&self, record: &Record) -> Option<&'a Repo> {
        // Of several, the first that was found.
        let within = |path: &Path| {
            let numbers = path.ancestors().filter_map(|above| self.by_common_dir.get(above));
            self.snapshot.repos.get(*numbers.min()?)
        };
        let by_folder = || Some(self.worktree_of(record.cwd.as_deref()?)?.0);
        record.location.path().and_then(within).or_else(by_folder)
    }

    /// Returns the repository and working tree that a folder is in: the deepest that fits.
    pub(crate) fn worktree_of(&self, folder: &Path) -> Option<(&'a Repo, &'a Worktree)> {
        folder.ancestors().find_map(|above| self.by_folder.get(above).copied())
    }
}

/// Reads the agents' own registries: a record whose PID runs with the recorded start is
/// certain. A zombie still matches PID and start, so it must not have exited.
fn fitting_entries(snapshot: &Snapshot) -> Vec<(u32, &Record)> {
    let records = snapshot.records.iter().filter(|record| record.format == Format::ClaudeCode);
    records.filter_map(|record| Some((registered_pid(snapshot, record)?, &**record))).collect()
}

/// Returns the sessions that those entries name.
fn certain_sessions<'a>(entries: &[(u32, &'a Record)]) -> BTreeMap<u32, &'a Untrusted> {
    entries.iter().filter_map(|(pid, record)| Some((*pid, record.session_id.as_ref()?))).collect()
}

fn registered_pid(snapshot: &Snapshot, record: &Record) -> Option<u32> {
    let holder = record.holder.as_ref().filter(|holder| holder.binding == Binding::Registry)?;
    let pid = holder.pid.as_ref()?.valid()?;
    let process = snapshot.processes.get(pid)?;
    let is_the_same = holder.start_ticks? == process.id.start_ticks && !has_exited(process);
    (is_the_same && counts_here(&snapshot.host, holder)).then_some(pid)
}

/// Returns whether a holder's PID counts here, as far as the record states.
fn counts_here(host: &Host, holder: &Holder) -> bool {
    match holder.domain() {
        None => true,
        Some(Domain::Darwin) => host.platform == Platform::MacOs,
        Some(Domain::Linux { .. }) if host.platform != Platform::Linux => false,
        Some(Domain::Linux { machine, namespace }) => {
            let is_ours =
                |machine: &Untrusted| host.machine_id.as_deref().is_some_and(|own| own == machine.raw());
            machine.as_ref().is_none_or(is_ours) && namespace.is_none_or(|it| Some(it) == host.pid_namespace)
        }
        Some(Domain::Other) => false,
    }
}

fn unread(snapshot: &Snapshot) -> Vec<Option<&Process>> {
    let table = &snapshot.processes;
    let processes = table.listed.iter().map(|pid| table.get(*pid));
    processes.filter(|process| process.is_none_or(|process| !process.is_placed())).collect()
}

/// Returns the clock's history with the reading of the look itself; nothing if the clocks could not be read.
fn clock(snapshot: &Snapshot) -> ClockHistory {
    let host = &snapshot.host;
    let up_for = host.boot_at.map(|boot_at| snapshot.taken_at.duration_since(boot_at));
    let Some(now) = up_for.and_then(|up_for| ClockReading::new(up_for, snapshot.taken_at)) else {
        return ClockHistory::default();
    };
    let mut history = host.clock.clone();
    history.add([now]);
    history
}

/// Returns when the machine booted, and that as evidence.
fn booted(snapshot: &Snapshot) -> Option<(Timestamp, Evidence)> {
    let host = &snapshot.host;
    let at = host.booted_by()?;
    let words = at.strftime("%Y-%m-%d %H:%M:%SZ");
    let value = format!("the machine booted at {words}, after the last write");
    Some((at, Evidence::new("boot", value, "boot clock")))
}

fn by_argument<'a>(windows: &[Window<'a>]) -> HashMap<&'a str, Vec<&'a Process>> {
    let mut index: HashMap<&str, Vec<&Process>> = HashMap::new();
    for process in windows.iter().map(|window| window.process) {
        for argument in process.details.iter().flat_map(|details| &details.argv) {
            let argument = argument.raw();
            index.entry(argument.strip_prefix("--resume=").unwrap_or(argument)).or_default().push(process);
        }
    }
    index
}

fn by_folder(snapshot: &Snapshot) -> HashMap<&Path, (&Repo, &Worktree)> {
    let repos = snapshot.repos.iter().filter(|repo| repo.sort == RepoSort::Git);
    let trees = repos.flat_map(|repo| repo.worktrees.iter().map(move |tree| (repo, tree)));
    trees.map(|(repo, tree)| (tree.path.as_path(), (repo, tree))).collect()
}

fn by_common_dir(snapshot: &Snapshot) -> HashMap<&Path, usize> {
    let repos = snapshot.repos.iter().enumerate().rev();
    repos.map(|(number, repo)| (repo.common_dir.as_path(), number)).collect()
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

fn tombstone_by_session(snapshot: &Snapshot) -> HashMap<&Untrusted, &Tombstone> {
    let here = snapshot.tombstones.iter().filter(|stone| stone.counts_on(&snapshot.host));
    here.filter_map(|stone| Some((stone.session_id.as_ref()?, stone))).collect()
}

fn by_registered_pid(snapshot: &Snapshot) -> BTreeMap<u32, Vec<&Record>> {
    let mut index: BTreeMap<u32, Vec<&Record>> = BTreeMap::new();
    for record in &snapshot.records {
        let holder = record.holder.as_ref().filter(|holder| holder.binding == Binding::Registry);
        let holder = holder.filter(|holder| counts_here(&snapshot.host, holder));
        if let Some(pid) = holder.and_then(|holder| holder.pid.as_ref()?.valid()) {
            index.entry(pid).or_default().push(record);
        }
    }
    index
}

fn seen(snapshot: &Snapshot) -> HashMap<u32, Vec<&SeenAgent>> {
    let mut index: HashMap<u32, Vec<&SeenAgent>> = HashMap::new();
    for agent in &snapshot.seen_agents {
        index.entry(agent.id.pid).or_default().push(agent);
    }
    index
}

fn by_group(snapshot: &Snapshot) -> HashMap<u32, &Process> {
    let living = snapshot.processes.by_pid.values().filter(|process| !has_exited(process));
    let mut index: HashMap<u32, &Process> = HashMap::new();
    for process in living {
        for number in [process.group, process.session] {
            let first = index.entry(number).or_insert(process);
            if process.id.start_ticks < first.id.start_ticks {
                *first = process;
            }
        }
    }
    index
}

fn by_inner_pid(snapshot: &Snapshot) -> BTreeMap<u32, Vec<&Process>> {
    let mut index: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
    for process in snapshot.processes.by_pid.values().filter(|process| !has_exited(process)) {
        for number in process.inner_pids().unwrap_or_default() {
            index.entry(*number).or_default().push(process);
        }
    }
    index
}
