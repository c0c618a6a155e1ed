//! The last reading of every process, so that a look need not read unchanged processes again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::core::judge::window::agent::Candidates;
use crate::core::model::{InnerPids, Process, ProcessId};
use crate::source::os::clock;
use crate::source::os::processes::linux::proc::stat::Line;
use crate::source::os::processes::wanted::Depth;

/// How old a process must be for its name to be settled, in seconds: agents are started by
/// launchers and shells that become them.
const SETTLED_AFTER: u64 = 10;

/// The last reading of every process.
#[derive(Default)]
pub(crate) struct ProcessCache {
    by_pid: HashMap<u32, KnownProcess>,
    /// Starts up to this tick are settled.
    settled_tick: u64,
}

/// Returns the tick before which settled processes have begun.
pub(crate) fn settled_tick() -> u64 {
    let up_for = clock::since_boot().map_or(0, |up_for| up_for.as_secs().unsigned_abs());
    up_for.saturating_sub(SETTLED_AFTER) * crate::source::os::processes::linux::proc::stat::ticks_per_second()
}

/// The last reading of one process.
pub(crate) struct KnownProcess {
    /// The inode of `/proc/<pid>`, which distinguishes processes that share a PID; a new one for the same process only
    /// costs another read.
    inode: u64,
    /// Whether it was old enough when it was read.
    pub(crate) is_settled: bool,
    /// Whether it is a thread of the kernel, which never becomes a program.
    pub(crate) is_kernels: bool,
    /// Whether it runs an agent's program under another name.
    pub(crate) is_renamed: bool,
    /// Whether it may be an agent, by that or by its name.
    pub(crate) may_be_agent: bool,
    /// Its `stat`.
    pub(crate) process: Process,
}

impl KnownProcess {
    /// Returns whether it need not be read again.
    pub(crate) fn lasts(&self, depth: Depth) -> bool {
        let is_placed = matches!(self.process.inner, InnerPids::Read(_));
        is_placed && self.is_settled && (self.is_kernels || depth == Depth::Changes)
    }

    /// Returns its numbers in other PID namespaces, which never change, if this is the process and they were read.
    pub(crate) fn inner_pids(&self, id: ProcessId) -> Option<InnerPids> {
        let is_read = matches!(self.process.inner, InnerPids::Read(_));
        (is_read && self.process.id == id).then(|| self.process.inner.clone())
    }
}

impl ProcessCache {
    /// Updates the clock: from now on a process that is old enough now is settled when it is read again.
    pub(crate) fn tell_time(&mut self) {
        self.settled_tick = settled_tick();
    }

    pub(crate) fn get(&self, pid: u32, inode: u64) -> Option<&KnownProcess> {
        self.by_pid.get(&pid).filter(|known| known.inode == inode)
    }

    /// Returns the cache entry of a process that was just read.
    pub(crate) fn entry(
        &self,
        inode: u64,
        line: Line,
        is_renamed: bool,
        candidates: &Candidates,
    ) -> KnownProcess {
        let Line { process, is_kernels, .. } = line;
        let process = Process { is_renamed, ..process };
        let is_settled = process.id.start_ticks <= self.settled_tick;
        let may_be_agent = is_renamed || candidates.may_be(process.comm.raw());
        KnownProcess { inode, is_settled, is_kernels, is_renamed, may_be_agent, process }
    }

    pub(crate) fn keep(&mut self, known: KnownProcess) {
        self.by_pid.insert(known.process.id.pid, known);
    }

    /// Forgets all processes but these; returns these as they were read.
    pub(crate) fn only(&mut self, pids: &BTreeSet<u32>) -> BTreeMap<u32, Process> {
        if self.by_pid.len() > pids.len() {
            self.by_pid.retain(|pid, _| pids.contains(pid));
            self.by_pid.shrink_to(2 * pids.len());
        }
        pids.iter().filter_map(|pid| Some((*pid, self.by_pid.get(pid)?.process.clone()))).collect()
    }

    /// Returns the processes that run an agent's program under another name.
    pub(crate) fn renamed(&self) -> impl Iterator<Item = u32> {
        self.by_pid.iter().filter(|(_, known)| known.is_renamed).map(|(pid, _)| *pid)
    }

    /// Returns whether a process is known to be just started.
    pub(crate) fn is_young(&self, pid: u32) -> bool {
        self.by_pid.get(&pid).is_some_and(|known| !known.is_settled)
    }

    /// Returns the inode of a process's folder if it was not just started.
    pub(crate) fn settled_folder(&self, pid: u32) -> Option<u64> {
        self.by_pid.get(&pid).filter(|known| known.is_settled).map(|known| known.inode)
    }
}
