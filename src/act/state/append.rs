//! Appends to claimtop's own files, without waiting for any other process: one call of the system for whole lines, at
//! the end of the file, where the system puts those of several processes one behind the other (write(2), `O_APPEND`).

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, write};
use rustix::process::geteuid;

use crate::source::os::open::meta::wide;

/// Opens a plain file of this user's to append to it, and returns its size in bytes; it is made if needed, for its
/// owner only.
///
/// # Errors
/// The system refuses, or it is another user's or no plain file (`EINVAL`).
pub(crate) fn open_end(path: &Path) -> Result<(OwnedFd, u64), Errno> {
    let flags = OFlags::WRONLY
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::RUSR | Mode::WUSR)?;
    let stat = fstat(&file)?;
    let is_plain = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    match is_plain && stat.st_uid == geteuid().as_raw() {
        true => Ok((file, wide(stat.st_size))),
        false => Err(Errno::INVAL),
    }
}

/// Writes bytes by one call.
///
/// # Errors
/// The system refuses, or has written only a part of them (`ENOSPC`).
pub(crate) fn write_once(file: &OwnedFd, bytes: &[u8]) -> Result<(), Errno> {
    if write(file, bytes)? == bytes.len() { Ok(()) } else { Err(Errno::NOSPC) }
}
