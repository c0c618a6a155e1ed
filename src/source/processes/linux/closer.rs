//! A closer look at one process: details, and a pidfd that vouches for all that was read.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::fstat;

use super::details::{self, Lasting};
use super::pidfd;
use super::proc::{Proc, Reading, is_gone, slurp, understood};
use crate::core::process::{Process, ProcessState};

/// What is kept of one process for the next look.
pub(super) struct Kept {
    start_ticks: u64,
    /// The inode of `/proc/<pid>`: it tells processes apart that share PID and tick. The kernel
    /// does not promise it, so a new one only costs reading once more.
    folder: u64,
    lasting: Lasting,
}

/// How the closer look went.
pub(super) enum Closer {
    /// It was read; and what to keep of it.
    Read(Box<Process>, Kept),
    /// Not more can be read than its `stat` before.
    Unreadable,
    /// It has exited and been reaped.
    Gone,
}

/// Looks closer at one process. When its PID changes hands at that moment, once more.
pub(super) fn look(proc: &mut Proc, pid: u32, kept: Option<Kept>) -> Closer {
    match attempt(proc, pid, kept) {
        Closer::Read(process, _) if is_torn(&process) => attempt(proc, pid, None),
        closer @ (Closer::Read(..) | Closer::Unreadable | Closer::Gone) => closer,
    }
}

/// Returns whether pidfd and `stat` contradict each other: it exited in between, or they are of
/// two processes.
fn is_torn(process: &Process) -> bool {
    process.has_exited == Some(true) && process.state != ProcessState::Zombie
}

/// Opens the pidfd, reads, and then asks the pidfd: if its process has not exited, all that was
/// read in between belongs to it.
fn attempt(proc: &mut Proc, pid: u32, kept: Option<Kept>) -> Closer {
    let pidfd = if proc.is_own { pidfd::open(pid).ok() } else { None };
    let folder = match proc.folder(pid) {
        Ok(folder) => folder,
        Err(error) if is_gone(error) => return Closer::Gone,
        Err(_) => return Closer::Unreadable,
    };
    let mut text = Vec::new();
    let outcome = slurp(folder.as_fd(), "stat", &mut text, 4 << 10);
    let mut process = match understood(pid, outcome.map(|()| text.as_slice())) {
        Reading::Read(process) => process,
        Reading::Unreadable => return Closer::Unreadable,
        Reading::Gone => return Closer::Gone,
    };
    let inode = fstat(&folder).map(|stat| stat.st_ino).unwrap_or_default();
    let kept = kept.filter(|kept| kept.start_ticks == process.id.start_ticks && kept.folder == inode);
    let (details, lasting) = details::read(&folder, kept.map(|kept| kept.lasting));
    process.details = Some(details);
    vouch(&mut process, pidfd.as_ref());
    let kept = Kept { start_ticks: process.id.start_ticks, folder: inode, lasting };
    Closer::Read(Box::new(process), kept)
}

fn vouch(process: &mut Process, pidfd: Option<&OwnedFd>) {
    process.pidfd_inode = pidfd.and_then(pidfd::inode);
    process.has_exited = pidfd.and_then(pidfd::has_exited);
}
