//! The process table: which processes exist, and how complete the scan was.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::core::model::{FolderId, Untrusted};

/// Identifies one process for as long as the machine is up: the PID and the start in raw clock ticks since boot (field
/// 22 of `/proc/<pid>/stat`, after the last `)`; proc(5)).
///
/// A PID alone is reused. Two processes can even share PID and tick (a tick is 10 ms), so if the kernel has pidfs (6.9
/// and later) [`Process::pidfd_inode`] distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// The PID in claimtop's own PID namespace.
    pub pid: u32,
    /// The start, in clock ticks since boot.
    pub start_ticks: u64,
}

/// The scheduler's state of a process (field 3 of `/proc/<pid>/stat`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessState {
    /// R, S, D, I and the like: it exists and may run.
    Running,
    /// T or t: it exists and is held; it keeps what it has.
    Stopped,
    /// Z with one thread left: it has exited and waits to be reaped.
    Zombie,
    /// Z while other threads run on: the leader has exited, the process has not.
    LeaderExited,
}

/// One process, as far as it could be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Process {
    /// PID and start.
    pub id: ProcessId,
    /// The parent's PID; 0 when there is none in this namespace.
    pub parent: u32,
    /// The scheduler's state.
    pub state: ProcessState,
    /// The name of the main thread, at most 15 bytes.
    pub comm: Untrusted,
    /// The controlling terminal (`pts/3`), if there is one.
    pub tty: Option<String>,
    /// The process group (field 5 of stat), as a PID; 0 if it is not known.
    #[serde(default)]
    pub group: u32,
    /// The session ID (field 6 of stat), as a PID.
    pub session: u32,
    /// The inode of its pidfd on pidfs: unique for one boot, even when PID and tick are not.
    pub pidfd_inode: Option<u64>,
    /// Whether a pidfd reports that the process has exited; `None` if none could be opened.
    pub has_exited: Option<bool>,
    /// Its numbers in the PID namespaces below claimtop's own.
    #[serde(default)]
    pub inner: InnerPids,
    /// Whether its executable or its arguments are an agent's although its name is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_renamed: bool,
    /// Details, read only for processes that matter.
    pub details: Option<Details>,
}

/// The numbers that a process has in the PID namespaces below claimtop's own
/// (pid_namespaces(7)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InnerPids {
    /// Not queried, as in recordings of older versions: the details have it, if there are any.
    #[default]
    Unasked,
    /// It could not be read.
    Unread,
    /// From the outermost inwards; empty for a process of claimtop's own namespace.
    Read(Box<[u32]>),
}

impl InnerPids {
    /// Converts the `NSpid` line of a process's status (proc(5)), whose first number is the one in claimtop's own
    /// namespace.
    pub fn from_ns_pids(numbers: &[u32]) -> Self {
        match numbers.split_first() {
            Some((_, inner)) => Self::Read(inner.into()),
            None => Self::Unread,
        }
    }
}

impl Process {
    /// Returns its numbers in the PID namespaces below claimtop's own, empty if it is in that one; `None` if this is
    /// not known.
    pub fn inner_pids(&self) -> Option<&[u32]> {
        match &self.inner {
            InnerPids::Read(inner) => Some(inner),
            InnerPids::Unread => None,
            InnerPids::Unasked => self.details.as_ref()?.ns_pids.get(1..),
        }
    }

    /// Returns whether its PID namespace is known; older versions did not query it for processes that did not matter
    /// to them.
    pub(crate) fn is_placed(&self) -> bool {
        match &self.inner {
            InnerPids::Read(_) => true,
            InnerPids::Unread => false,
            InnerPids::Unasked => self.details.as_ref().is_none_or(|details| !details.ns_pids.is_empty()),
        }
    }

    /// Returns whether this process started at this tick, as it or its like would have recorded it; `None` if the
    /// numbers differ but may count in different time namespaces, which only a closer look can decide.
    pub(crate) fn has_start(&self, ticks: u64) -> Option<bool> {
        let may_have = |details: &Details| details.has_other_clock || details.has_unread_clock;
        let has_other_clock = self.details.as_ref().is_none_or(may_have);
        let is_same = self.id.start_ticks == ticks;
        (is_same || !has_other_clock).then_some(is_same)
    }
}

/// The users as whom a process may write files (credentials(7), capabilities(7), user_namespaces(7)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The real, effective, saved and file-system user, as claimtop's own user namespace counts them.
    pub users: Vec<u32>,
    /// Whether it has any capability, or may regain one: some permit writing to files of every user.
    pub has_capabilities: bool,
    /// Whether its user namespace may count users otherwise than the machine does.
    pub is_mapped: bool,
}

impl Credentials {
    /// Returns whether a process with these credentials certainly cannot have written to a file of this user. Root can
    /// write a file and then become any user, and every user without a number in a user namespace appears as the
    /// overflow user.
    pub(crate) fn exclude(&self, owner: u32) -> bool {
        let is_anybody = |user: u32| user == 0 || user == OVERFLOW_USER;
        let may_be = |user: &u32| *user == owner || is_anybody(*user);
        !(is_anybody(owner)
            || self.has_capabilities
            || self.is_mapped
            || self.users.is_empty()
            || self.users.iter().any(may_be))
    }
}

/// The user that stands for all users without a number in a user namespace (`/proc/sys/kernel/overflowuid`), which no
/// system is known to change.
const OVERFLOW_USER: u32 = 65_534;

/// The costlier facts of a process, each absent when it could not be read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Details {
    /// The effective user.
    pub uid: Option<u32>,
    /// The users as whom it may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    /// The executable, with a trailing ` (deleted)` taken off (proc(5)).
    pub exe: Option<Untrusted>,
    /// The arguments, the first being the name as typed.
    pub argv: Vec<Untrusted>,
    /// The working directory, with a trailing ` (deleted)` taken off (proc(5)).
    pub cwd: Option<Untrusted>,
    /// Whether that folder was removed, so that another one may be at and around its path now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cwd_gone: bool,
    /// Whether that differs, by device and inode, from the folder of this name here: the process has mounts of its
    /// own, or another root.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cwd_elsewhere: bool,
    /// The path of that same folder here, if the process has mounts of its own, or another root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_here: Option<Untrusted>,
    /// Device and inode of that folder if it has no name here: windows of one container can share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_id: Option<FolderId>,
    /// The PIDs from the outermost visible namespace inwards (`NSpid` of status); one
    /// element when the process lives in claimtop's own namespace.
    pub ns_pids: Vec<u32>,
    /// Whether it is in another time namespace than claimtop, where the kernel reports the starts of all processes
    /// with other numbers (time_namespaces(7)).
    #[serde(default)]
    pub has_other_clock: bool,
    /// Whether it may be in another one, because that could not be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_unread_clock: bool,
    /// The home folders in which it may keep records, as the process itself reaches them, including those with other
    /// names there; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homes: Option<BTreeSet<FolderId>>,
    /// Whether a different folder ID there certainly means a different folder: device and inode are not unique below
    /// overlayfs and similar, nor on a network.
    #[serde(default = "certain", skip_serializing_if = "is_certain")]
    pub has_certain_homes: bool,
    /// Whether it is a kernel thread, which never runs a program and so never holds anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_kernels: bool,
    /// Whether it only plays an agent, in one of claimtop's own demos, which is not being looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stand_in: bool,
    /// The few environment variables that matter, by name.
    pub env: BTreeMap<String, Untrusted>,
    /// CPU use in percent of one core.
    pub cpu_percent: Option<f32>,
    /// Resident memory, in bytes.
    pub memory_bytes: Option<u64>,
}

impl Details {
    /// Returns its working folder by the name that folder has here; `None` if it certainly has no known name, or was
    /// removed.
    pub(crate) fn folder_here(&self) -> Option<&Untrusted> {
        if self.is_cwd_gone {
            return None;
        }
        self.cwd_here.as_ref().or(self.cwd.as_ref().filter(|_| !self.is_cwd_elsewhere))
    }
}

/// The value that recordings of older versions assume.
fn certain() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_certain(has_certain_homes: &bool) -> bool {
    *has_certain_homes
}

/// One look at all processes.
#[derive(Clone, Debug, Default)]
pub struct ProcessTable {
    /// Every PID that was listed, readable or not.
    pub listed: BTreeSet<u32>,
    /// Why the list may lack processes; `None` when it is complete.
    pub partial: Option<String>,
    /// The processes that could be read, by PID.
    pub by_pid: BTreeMap<u32, Process>,
    /// The thread IDs that records name, with their processes: below `/proc` they exist but are not listed (proc(5)).
    /// They count as listed.
    pub threads: BTreeMap<u32, u32>,
}

impl ProcessTable {
    /// Returns the process `pid`, or the process of which it is a thread.
    pub fn get(&self, pid: u32) -> Option<&Process> {
        self.by_pid.get(&pid).or_else(|| self.by_pid.get(self.threads.get(&pid)?))
    }

    /// Returns whether a process has only the machine's init or service manager above it: its starter is gone.
    pub(crate) fn is_orphan(&self, process: &Process) -> bool {
        process.parent == 1 || self.get(process.parent).is_some_and(is_keeper)
    }

    /// Returns whether a process is an orphan, or may have been handed over to another parent: it is in another
    /// session than its parent.
    pub(crate) fn may_be_left(&self, process: &Process) -> bool {
        let is_apart = |parent: &Process| is_keeper(parent) || parent.session != process.session;
        process.parent == 1 || self.get(process.parent).is_some_and(is_apart)
    }

    /// Removes a process that has exited since it was listed: it no longer counts.
    pub(crate) fn forget(&mut self, pid: u32) {
        self.by_pid.remove(&pid);
        self.listed.remove(&pid);
    }

    /// Returns whether every process was seen with all its numbers: only then does a number that was not seen also not
    /// exist in any PID namespace below this one.
    pub(crate) fn is_whole(&self) -> bool {
        let is_read = |pid: &u32| self.get(*pid).is_some_and(Process::is_placed);
        self.partial.is_none() && self.listed.iter().all(is_read)
    }

    /// Decides what it means that `pid` could not be read. Nothing else calls a process absent.
    pub fn absence(&self, pid: u32) -> Absence<'_> {
        match &self.partial {
            _ if self.listed.contains(&pid) => Absence::Unreadable,
            Some(why) => Absence::Unproven(why),
            None => Absence::Proven,
        }
    }

    /// Returns whether a process here has this PID, in this namespace or in its own, and this start; or may have them
    /// as far as could be read.
    pub(crate) fn may_have(&self, id: ProcessId) -> bool {
        let has_number = |process: &Process| {
            process.id.pid == id.pid || process.inner_pids().unwrap_or_default().contains(&id.pid)
        };
        let may_be = |process: &Process| {
            has_number(process) && process.has_start(id.start_ticks) != Some(false) && !has_exited(process)
        };
        !self.is_whole() || self.by_pid.values().any(may_be)
    }
}

/// What it means that a PID could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence<'a> {
    /// The process exists but may not be read.
    Unreadable,
    /// The scan was not complete, for this reason.
    Unproven(&'a str),
    /// A complete scan proves that no process has this PID.
    Proven,
}

/// The most levels of parents to walk before giving up.
pub(crate) const MAX_DEPTH: usize = 32;

/// Walks from `pid` (included) to the root: at most [`MAX_DEPTH`] levels, and never round a cycle, which a scan that
/// races with forks and exits can contain.
pub(crate) fn ancestry(table: &ProcessTable, pid: u32) -> Vec<&Process> {
    let mut chain: Vec<&Process> = Vec::new();
    let mut next = pid;
    while let Some(process) = table.get(next) {
        if chain.len() >= MAX_DEPTH || chain.iter().any(|seen| seen.id.pid == next) {
            break;
        }
        chain.push(process);
        next = process.parent;
    }
    chain
}

/// The processes of a table by their parents.
pub(crate) struct Children<'a>(HashMap<u32, Vec<&'a Process>>);

impl<'a> Children<'a> {
    pub(crate) fn new(table: &'a ProcessTable) -> Self {
        let mut children: HashMap<u32, Vec<&Process>> = HashMap::new();
        for process in table.by_pid.values() {
            children.entry(process.parent).or_default().push(process);
        }
        Self(children)
    }

    /// Returns the wanted descendants of a process, each once, even if a scan that raced with forks and exits contains
    /// a cycle. Does not descend below an unwanted process.
    pub(crate) fn descendants(&self, pid: u32, is_wanted: impl Fn(&Process) -> bool) -> Vec<&'a Process> {
        let mut seen = BTreeSet::from([pid]);
        let mut found: Vec<&Process> = Vec::new();
        let mut next = Some(pid);
        let mut at = 0;
        while let Some(parent) = next {
            let children = self.0.get(&parent).into_iter().flatten().copied();
            found.extend(children.filter(|child| is_wanted(child) && seen.insert(child.id.pid)));
            next = found.get(at).map(|process| process.id.pid);
            at += 1;
        }
        found
    }
}

/// Returns whether a process is systemd, the machine's own or a user's.
fn is_keeper(process: &Process) -> bool {
    process.comm.raw() == "systemd"
}

/// Returns whether a process has exited: its pidfd reports so, or it is a zombie of one thread.
pub fn has_exited(process: &Process) -> bool {
    process.has_exited.unwrap_or(process.state == ProcessState::Zombie)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_nobody_but_a_keeper_above_is_an_orphan_and_of_another_session_may_be_one() {
        let process = |pid: u32, parent: u32, comm: &str, session: u32| Process {
            id: ProcessId { pid, start_ticks: 1 },
            parent,
            state: ProcessState::Running,
            comm: comm.into(),
            tty: None,
            group: 0,
            session,
            pidfd_inode: None,
            has_exited: None,
            inner: InnerPids::Read([].into()),
            is_renamed: false,
            details: None,
        };
        let all = [
            process(1, 0, "init", 1),
            process(20, 1, "systemd", 20),
            process(30, 20, "bash", 20),
            process(31, 30, "node", 20),
            process(32, 1, "node", 1),
            process(33, 77, "node", 77),
            process(34, 30, "node", 29),
        ];
        let table = ProcessTable {
            by_pid: all.into_iter().map(|process| (process.id.pid, process)).collect(),
            ..ProcessTable::default()
        };
        let told = |is: fn(&ProcessTable, &Process) -> bool| {
            let told = table.by_pid.values().filter(|process| is(&table, process));
            told.map(|process| process.id.pid).collect::<Vec<u32>>()
        };
        assert_eq!(told(ProcessTable::is_orphan), [20, 30, 32]);
        assert_eq!(told(ProcessTable::may_be_left), [20, 30, 32, 34]);
    }
}
