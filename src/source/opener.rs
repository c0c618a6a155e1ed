//! Which process has a file open, as far as it may be looked at (proc(5), `/proc/<pid>/fd`).

use std::ffi::{CStr, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, readlinkat, statat};

use super::open::meta_of;
use super::processes::own_pid;
use crate::core::file::FileMeta;

/// Returns a process other than ourselves that has a file open: the first that is found.
pub(super) fn of(name: &OsStr, meta: &FileMeta) -> Option<u32> {
    let pids = Dir::read_from(folder("/proc")?).ok()?.filter_map(|entry| {
        std::str::from_utf8(entry.ok()?.file_name().to_bytes()).ok()?.parse::<u32>().ok()
    });
    pids.filter(|pid| *pid != own_pid()).find(|pid| has_open(*pid, name, meta))
}

fn folder(path: &str) -> Option<OwnedFd> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn has_open(pid: u32, name: &OsStr, meta: &FileMeta) -> bool {
    let Some(fds) = folder(&format!("/proc/{pid}/fd")) else { return false };
    let Ok(mut listing) = Dir::read_from(&fds) else { return false };
    listing.any(|entry| entry.is_ok_and(|entry| is_it(&fds, entry.file_name(), name, meta)))
}

/// Returns whether a descriptor is the file. Only one of that name is asked itself: a file of a
/// broken network mount would not answer.
fn is_it(fds: &OwnedFd, number: &CStr, name: &OsStr, meta: &FileMeta) -> bool {
    let Ok(link) = readlinkat(fds, number, Vec::new()) else { return false };
    let is_named = link.as_bytes().rsplit(|byte| *byte == b'/').next() == Some(name.as_bytes());
    is_named
        && statat(fds, number, AtFlags::empty()).is_ok_and(|stat| {
            let found = meta_of(&stat);
            (found.dev, found.ino) == (meta.dev, meta.ino)
        })
}
