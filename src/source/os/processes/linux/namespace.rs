//! The numbers of a process in each PID namespace. They never change while the process lives.

use std::ffi::CString;
use std::os::fd::AsFd;
use std::sync::OnceLock;

use rustix::fs::{CWD, readlinkat};

use crate::core::model::InnerPids;
use crate::source::os::processes::linux::details::ns_pids;
use crate::source::os::processes::linux::known::KnownProcess;
use crate::source::os::processes::linux::proc::stat::Line;
use crate::source::os::processes::linux::proc::{Proc, Reading};

/// Returns the numbers of a process whose `stat` was just read: from an earlier look at it, else from its namespace if
/// that may be seen and is ours, else from its status, which every user may read (proc(5)).
pub(crate) fn inner_pids(proc: &mut Proc, line: &Line, earlier: Option<&KnownProcess>) -> Reading<InnerPids> {
    let id = line.process.id;
    // A kernel thread is in the first namespace, and none below it can be seen.
    if line.is_kernels {
        return Reading::Read(InnerPids::Read([].into()));
    }
    if let Some(known) = earlier.and_then(|earlier| earlier.inner_pids(id)) {
        return Reading::Read(known);
    }
    if proc.is_own() && is_ours(proc, id.pid) {
        return Reading::Read(InnerPids::Read([].into()));
    }
    match ns_pids(proc.as_fd(), &format!("{}/status", id.pid)) {
        Reading::Read(numbers) => Reading::Read(InnerPids::from_ns_pids(&numbers)),
        Reading::Unreadable => Reading::Unreadable,
        Reading::Gone => Reading::Gone,
    }
}

/// Returns whether a process is proven to live in our own namespace; this costs a third of reading a status.
fn is_ours(proc: &Proc, pid: u32) -> bool {
    static OWN: OnceLock<Option<CString>> = OnceLock::new();
    let own = OWN.get_or_init(|| readlinkat(CWD, "/proc/self/ns/pid", Vec::new()).ok());
    let theirs = readlinkat(proc.as_fd(), format!("{pid}/ns/pid"), Vec::new()).ok();
    theirs.is_some() && theirs == *own
}
