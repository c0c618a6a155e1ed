//! Threads that records name: `/proc/<tid>` is there and not listed (proc(5)).

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::source::os::processes::linux::details::process_of;
use crate::source::os::processes::linux::proc::{Proc, Reading};

/// Returns the process of each number that was not listed and is a thread's. One that may not be read
/// stands for itself: it is there.
pub(crate) fn threads(proc: &Proc, named: &BTreeSet<u32>, listed: &BTreeSet<u32>) -> BTreeMap<u32, u32> {
    let thread = |pid: u32| match process_of(proc.as_fd(), &format!("{pid}/status")) {
        // Of a process that was born since the listing it says the number itself.
        Reading::Read(process) => process.filter(|process| *process != pid),
        Reading::Unreadable => Some(pid),
        Reading::Gone => None,
    };
    let unlisted = named.iter().filter(|pid| !listed.contains(pid));
    let may_be_there = unlisted.filter(|pid| !(proc.is_own() && is_nobodys(**pid)));
    may_be_there.filter_map(|pid| Some((*pid, thread(*pid)?))).collect()
}

/// Returns whether neither a process nor a thread of our own PID namespace has a number (kill(2), signal
/// 0); to ask the kernel so costs a tenth of asking `/proc`, and dead records can name thousands.
fn is_nobodys(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}
