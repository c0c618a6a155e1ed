//! pidfds: descriptors that stay with one process, whatever becomes of its PID.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{fstat, fstatfs};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The file system that gives each process an inode of its own, since Linux 6.9
/// (`PIDFS_MAGIC` of `linux/magic.h`). Before it all pidfds shared one.
const PIDFS_MAGIC: u64 = 0x5049_4446;

/// Opens a pidfd; it works for other users' processes too. `None` when the process is gone or
/// the system has no descriptor for us, which proves nothing.
pub(crate) fn open(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Returns whether the process has exited, all its threads included: then its pidfd is readable.
pub(super) fn has_exited(pidfd: &OwnedFd) -> Option<bool> {
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    let count = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).ok()?;
    Some(count > 0)
}

/// Returns the inode, unique for one boot, where the kernel has pidfs.
pub(super) fn inode(pidfd: &OwnedFd) -> Option<u64> {
    static HAS_PIDFS: OnceLock<bool> = OnceLock::new();
    let has_pidfs = *HAS_PIDFS.get_or_init(|| {
        fstatfs(pidfd).is_ok_and(|answer| u64::try_from(answer.f_type).is_ok_and(|t| t == PIDFS_MAGIC))
    });
    if has_pidfs { fstat(pidfd).ok().map(|stat| stat.st_ino) } else { None }
}
