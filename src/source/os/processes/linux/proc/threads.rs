//! Threads that records name: `/proc/<tid>` exists and is not listed (proc(5)).

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::source::os::processes::linux::details::process_of;
use crate::source::os::processes::linux::proc::{Proc, Reading};

/// Returns the process of each number that was not listed and is a thread's. A number that may not be read stands for
/// itself: it exists.
pub(crate) fn threads(proc: &Proc, named: &BTreeSet<u32>, listed: &BTreeSet<u32>) -> BTreeMap<u32, u32> {
    let thread = |pid: u32| match process_of(proc.as_fd(), &format!("{pid}/status")) {
        // A process that was born since the listing returns its own number.
        Reading::Read(process) => process.filter(|process| *process != pid),
        Reading::Unreadable => Some(pid),
        Reading::Gone => None,
    };
    let unlisted = named.iter().filter(|pid| !listed.contains(pid));
    let may_be_there = unlisted.filter(|pid| !(proc.is_own() && is_nobodys(**pid)));
    may_be_there.filter_map(|pid| Some((*pid, thread(*pid)?))).collect()
}

/// Returns whether no process and no thread of our own PID namespace has a number (kill(2), signal 0). This system
/// call costs a tenth of reading `/proc`, and dead records can name thousands.
fn is_nobodys(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}
