//! Threads that records name: `/proc/<tid>` is there and not listed (proc(5)).

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;

use crate::source::os::processes::linux::details::process_of;
use crate::source::os::processes::linux::proc::{Proc, Reading};

/// Returns the process of each number that was not listed and is a thread's. It costs one attempt to
/// open a file for each number that is nobody's. One that may not be read stands for itself: it is
/// there.
pub(crate) fn threads(proc: &Proc, named: &BTreeSet<u32>, listed: &BTreeSet<u32>) -> BTreeMap<u32, u32> {
    let thread = |pid: u32| match process_of(proc.as_fd(), &format!("{pid}/status")) {
        // Of a process that was born since the listing it says the number itself.
        Reading::Read(process) => process.filter(|process| *process != pid),
        Reading::Unreadable => Some(pid),
        Reading::Gone => None,
    };
    let unlisted = named.iter().filter(|pid| !listed.contains(pid));
    unlisted.filter_map(|pid| Some((*pid, thread(*pid)?))).collect()
}
