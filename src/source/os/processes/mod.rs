//! Reads the process table: every process cheaply, and processes that matter in detail.

#[cfg(any(test, target_os = "macos"))]
pub(crate) mod darwin;
pub(crate) mod environment;
pub(crate) mod homes;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod measure;
#[cfg(any(test, not(any(target_os = "linux", target_os = "macos"))))]
#[cfg_attr(
    any(target_os = "linux", target_os = "macos"),
    expect(dead_code, unused_imports, reason = "compiled here so that it keeps compiling")
)]
pub(crate) mod other;
pub(crate) mod own;
#[cfg(test)]
#[path = "../../../../tests/common/started.rs"]
pub(crate) mod started;
pub(crate) mod system;
pub(crate) mod traced;
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here so that it keeps compiling"))]
pub(crate) mod unread;
pub(crate) mod usage;
pub(crate) mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::core::judge::window::agent::{Candidates, Signatures};
use crate::core::judge::window::stand_in;
use crate::core::model::{
    CallProcesses, CallWait, Household, InputEnd, Interaction, Member, Port, ProcessId, ProcessTable,
    Untrusted,
};
use crate::format::Base;
use crate::source::os::opener::HiddenOpener;
use crate::source::os::processes::homes::Homes;
use crate::source::os::processes::measure::Measure;
use crate::source::os::processes::traced::TraceReading;
use crate::source::os::processes::usage::Usage;
use crate::source::os::processes::wanted::{Depth, DetailTargets};

#[cfg(target_os = "linux")]
pub(crate) use self::linux::pidfd_of;

/// Scans repeatedly, and keeps what the next scan can reuse.
pub struct Scanner {
    candidates: Candidates,
    table: system::Scanner,
    usage: Usage,
    homes: Homes,
    /// The folder whose stand-ins count as the agents that they play.
    stage: Option<PathBuf>,
}

impl Scanner {
    /// Creates a scanner for agents with these `signatures`; reads nothing yet.
    pub fn new(signatures: &Signatures) -> Self {
        Self {
            candidates: signatures.candidates(),
            table: system::Scanner::default(),
            usage: Usage::default(),
            homes: Homes::default(),
            stage: None,
        }
    }

    /// Makes scans determine which of these folders of homes each possible agent reaches.
    pub fn with_homes(&mut self, places: Vec<(Base, String)>) {
        self.homes.places = places;
    }

    /// Treats the stand-ins below this folder as the agents that they play.
    pub(crate) fn with_stage(&mut self, stage: PathBuf) {
        self.stage = Some(stage);
    }

    /// Reads all processes as they are now; in detail possible agents, the processes that
    /// records have `named`, and the ancestors of both.
    pub fn scan(&mut self, named: &BTreeSet<u32>) -> ProcessTable {
        let table = self.table.scan(DetailTargets { candidates: &self.candidates, named }, Depth::Whole);
        self.completed(table)
    }

    /// Lists all present processes, and reads those that are new, young or matter; the others are as the last look
    /// read them. Which processes exist is as certain as after [`Scanner::scan`], but an old process that has become
    /// an agent since, without a fork, is only found by a full scan.
    pub fn rescan(&mut self, named: &BTreeSet<u32>) -> ProcessTable {
        let table = self.table.scan(DetailTargets { candidates: &self.candidates, named }, Depth::Changes);
        self.completed(table)
    }

    fn completed(&mut self, mut table: ProcessTable) -> ProcessTable {
        self.homes.fill(&mut table, &self.candidates);
        stand_in::mark(&mut table, self.stage.as_deref());
        table
    }

    /// Returns whether a possible agent has started, stopped or continued since the last look.
    pub fn has_news(&mut self) -> bool {
        self.table.has_news(&self.candidates, Depth::Changes)
    }

    /// Returns the same, of all processes: an old process may have become an agent without a fork (execve(2)).
    pub fn has_new_agent(&mut self) -> bool {
        self.table.has_news(&self.candidates, Depth::Whole)
    }

    /// Adds CPU and memory use to the details of these processes. CPU use is what was used since
    /// the last call, so there is none at first; calls within 200 ms repeat the last figure.
    pub fn usage(&mut self, table: &mut ProcessTable, pids: &BTreeSet<u32>, now: Timestamp) {
        self.usage.fill(table, pids, now);
    }
}

/// Reads one process and its ancestors, at most 32 levels, and no other process: so the table proves no absence. The
/// details are the executable, of possible agents also the arguments, and of the first one the environment, unless it
/// is ourselves.
pub fn chain(pid: u32, candidates: &Candidates) -> ProcessTable {
    system::chain(pid, candidates)
}

/// Reads one process and nothing else: the table proves no absence, and may be empty where a whole scan is not.
pub(crate) fn single(pid: u32) -> ProcessTable {
    system::single(pid)
}

/// Returns the inode of a process's pidfd, unique for one boot and the same in every PID namespace; `None` if the
/// kernel has none, or the process has exited.
pub(crate) fn pidfd_inode(id: ProcessId) -> Option<u64> {
    system::pidfd_inode(id)
}

/// Returns whether exactly this process lives; `None` if this system cannot determine it.
pub(crate) fn lives(id: ProcessId) -> Option<bool> {
    system::lives(id)
}

/// Returns whether the process with this PID and this pidfd inode lives; `None` if this system cannot determine it.
pub(crate) fn lives_by_inode(pid: u32, inode: u64) -> Option<bool> {
    system::lives_by_inode(pid, inode)
}

/// Returns the paths of the files that a process has open; none if it may not be inspected.
pub(crate) fn open_files(pid: u32) -> Vec<PathBuf> {
    system::open_files(pid)
}

/// Returns a process whose open files cannot be seen.
pub(crate) fn hidden_opener() -> Option<HiddenOpener> {
    system::hidden_opener()
}

/// Returns the traces of these processes, if they are this user's and their home is one of these.
pub(crate) fn traces(those: &[ProcessId], uid: u32, homes: &[&Path]) -> Vec<(ProcessId, TraceReading)> {
    system::traces(those, uid, homes)
}

/// Returns the tick before which processes that have settled on a program have begun.
pub(crate) fn settled_tick() -> u64 {
    system::settled_tick()
}

/// Measures these processes, without the clients of their ports; those that have exited are left out.
pub(crate) fn measures(those: &[ProcessId]) -> BTreeMap<ProcessId, Measure> {
    system::measures(those)
}

/// Returns the present arguments of a process, without the secrets in them; none if they may not be read.
pub(crate) fn arguments(pid: u32) -> Vec<Untrusted> {
    system::arguments(pid)
}

/// Returns whether a process is another user's, or may not be inspected by its own user.
pub(crate) fn is_others(pid: u32, uid: u32) -> bool {
    system::is_others(pid, uid)
}

/// Measures a window's own process and those below it, parents before their children.
pub(crate) fn measured(of: &Household) -> Vec<Member> {
    system::measured(of)
}

/// Returns whether a person may be working with each of these processes; processes for which that cannot be determined
/// are left out.
pub(crate) fn interactions(those: &[ProcessId]) -> BTreeMap<ProcessId, Interaction> {
    system::interactions(those)
}

/// Returns the TCP ports that each of these processes listens on, as far as that may be read.
pub(crate) fn ports(those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
    system::ports(those)
}

/// Counts the connections to each of these ports, as far as that may be read.
pub(crate) fn count_clients(ports: Vec<&mut Port>) {
    system::count_clients(ports);
}

/// Returns the sockets that listen on each of these ports, as far as that may be read.
pub(crate) fn listeners(wanted: &BTreeSet<u16>) -> BTreeMap<u16, Vec<u64>> {
    system::listeners(wanted)
}

/// Returns which of these processes has each of these sockets open, as far as that may be read.
pub(crate) fn owners(those: &[ProcessId], sockets: &BTreeSet<u64>) -> BTreeMap<u64, ProcessId> {
    system::owners(those, sockets)
}

/// Returns the other end of the standard input of these processes of this user, if it can be determined.
pub(crate) fn inputs(those: &[ProcessId], uid: u32) -> BTreeMap<ProcessId, InputEnd> {
    system::inputs(those, uid)
}

/// Returns what the processes of these calls wait for, as far as that may be read.
pub(crate) fn call_waits(calls: &[CallProcesses], table: &ProcessTable, uid: u32) -> Vec<CallWait> {
    system::call_waits(calls, table, uid)
}

/// Returns how many ticks of [`crate::core::model::ProcessId::start_ticks`] a second has.
pub(crate) fn ticks_per_second() -> u64 {
    system::ticks_per_second()
}
