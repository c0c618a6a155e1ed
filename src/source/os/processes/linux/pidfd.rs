//! pidfds: descriptors that stay with one process, even after its PID is reused.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, fstat, fstatfs};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::core::model::ProcessId;
use crate::source::os::processes::linux::proc::slurp;
use crate::source::os::processes::linux::proc::stat;

/// The file system that gives each process an inode of its own, since Linux 6.9
/// (`PIDFS_MAGIC` of `linux/magic.h`). Before it all pidfds shared one.
const PIDFS_MAGIC: u64 = 0x5049_4446;

/// Opens a pidfd; it works for other users' processes too.
///
/// # Errors
/// The process is gone (`ESRCH`), or the system is out of descriptors, which proves nothing.
pub(crate) fn open(pid: u32) -> Result<OwnedFd, Errno> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::INVAL)?;
    pidfd_open(pid, PidfdFlags::empty())
}

/// Opens a pidfd of exactly this process, which becomes readable when the process has exited (pidfd_open(2)); `None`
/// if it has, even if another process has its PID now.
///
/// # Errors
/// The system is out of descriptors.
pub(crate) fn open_verified(id: ProcessId) -> io::Result<Option<OwnedFd>> {
    let pidfd = match open(id.pid) {
        Ok(pidfd) => pidfd,
        Err(Errno::SRCH) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // The descriptor came first: if the start is the right one now, it was then.
    let mut text = Vec::new();
    let read = slurp(CWD, &format!("/proc/{}/stat", id.pid), &mut text, 4 << 10);
    let found = read.ok().and_then(|()| stat::parse(id.pid, &text));
    Ok(found.is_none_or(|line| line.process.id == id).then_some(pidfd))
}

/// Returns whether exactly this process lives; `None` if the system is out of descriptors.
pub(crate) fn lives(id: ProcessId) -> Option<bool> {
    match open_verified(id) {
        Ok(None) => Some(false),
        Ok(Some(pidfd)) => has_exited(&pidfd).map(|has_exited| !has_exited),
        Err(_) => None,
    }
}

/// Returns whether the process with this PID and this pidfd inode lives, whatever start time it has: in another time
/// namespace that is another number. `None` if that cannot be determined.
pub(crate) fn lives_by_inode(pid: u32, known: u64) -> Option<bool> {
    let pidfd = match open(pid) {
        Ok(pidfd) => pidfd,
        Err(Errno::SRCH) => return Some(false),
        Err(_) => return None,
    };
    if inode(&pidfd)? != known {
        return Some(false);
    }
    has_exited(&pidfd).map(|has_exited| !has_exited)
}

/// Returns the pidfd inode of exactly this process, if the kernel has it.
pub(crate) fn inode_of(id: ProcessId) -> Option<u64> {
    inode(&open_verified(id).ok()??)
}

/// Returns whether the process has exited, all its threads included: then its pidfd is readable.
pub(crate) fn has_exited(pidfd: &OwnedFd) -> Option<bool> {
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    let count = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).ok()?;
    Some(count > 0)
}

/// Returns the inode, unique for one boot, if the kernel has pidfs.
pub(crate) fn inode(pidfd: &OwnedFd) -> Option<u64> {
    static HAS_PIDFS: OnceLock<bool> = OnceLock::new();
    let has_pidfs = *HAS_PIDFS.get_or_init(|| {
        fstatfs(pidfd).is_ok_and(|answer| u64::try_from(answer.f_type).is_ok_and(|t| t == PIDFS_MAGIC))
    });
    if has_pidfs { fstat(pidfd).ok().map(|stat| stat.st_ino) } else { None }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test starts its own processes")]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::source::os::processes::started::spawn;

    fn inode_of_pid(pid: u32) -> Option<u64> {
        inode(&open(pid).unwrap())
    }

    #[test]
    fn a_process_is_known_by_its_inode_whatever_start_it_is_told_to_have() {
        let start = || spawn(Command::new("sleep").arg("600").stdin(Stdio::null()));
        let [mut one, mut other]: [Child; 2] = [start(), start()];
        let [its, others] = [one.id(), other.id()].map(inode_of_pid);
        if let Some((its, others)) = its.zip(others) {
            assert_eq!(lives_by_inode(one.id(), its), Some(true));
            assert_eq!(lives_by_inode(one.id(), others), Some(false), "its PID was given to another");
        }
        let pid = one.id();
        for child in [&mut one, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_ne!(lives_by_inode(pid, its.unwrap_or_default()), Some(true));
    }
}
