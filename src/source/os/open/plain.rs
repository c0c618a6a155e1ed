//! Opens and reads one plain file that is named by its path.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, pread, read, retry_on_intr};

use crate::core::model::FileMeta;
use crate::source::os::open::meta::meta_of;

/// How a file is opened: never following a link, never waiting for a FIFO's other end, never
/// becoming our terminal.
pub(crate) const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Opens a plain file that is named by its path, with the same care but from any owner; also one
/// of the kernel's, below `/proc`.
///
/// # Errors
/// The system refuses, or it is not a plain file (`EINVAL`).
pub(crate) fn open_plain(path: &Path) -> Result<(OwnedFd, FileMeta), Errno> {
    let fd = openat(CWD, path, FILE, Mode::empty())?;
    let stat = fstat(&fd)?;
    match FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        true => Ok((fd, meta_of(&stat))),
        false => Err(Errno::INVAL),
    }
}

/// Reads a plain file from an offset: `length` bytes, fewer if it ends before, and up to `more` if they come at once.
///
/// # Errors
/// The system refuses.
pub(crate) fn read_at(fd: impl AsFd, from: u64, length: usize, more: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    read_into(fd, from, (length, more), &mut bytes)?;
    Ok(bytes)
}

/// Reads the same into a buffer, replacing its content.
///
/// # Errors
/// The system refuses.
pub(crate) fn read_into(
    fd: impl AsFd,
    from: u64,
    (length, more): (usize, usize),
    bytes: &mut Vec<u8>,
) -> Result<(), Errno> {
    let most = length.saturating_add(more);
    bytes.clear();
    bytes.reserve_exact(most);
    while bytes.len() < most {
        let at = from.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        // A plain file gives less than asked for only at its end.
        if retry_on_intr(|| pread(&fd, spare_capacity(bytes), at))? == 0 || bytes.len() >= length {
            break;
        }
    }
    bytes.truncate(most);
    Ok(())
}

/// Reads a small file that is named by its path, with the same care but from any owner; also
/// one of the kernel's, below `/proc`. `cap` is in bytes and at least 1 KiB.
///
/// # Errors
/// The system refuses, it is not a plain file (`EINVAL`) or it is larger than `cap` (`EFBIG`).
pub(crate) fn small(path: &Path, cap: usize) -> Result<Vec<u8>, Errno> {
    let (fd, meta) = open_plain(path)?;
    // The kernel's files report size 0 and have content nevertheless.
    let mut bytes =
        Vec::with_capacity(usize::try_from(meta.size).unwrap_or(cap).clamp(4_095, cap.max(4_095)) + 1);
    loop {
        let read = retry_on_intr(|| read(&fd, spare_capacity(&mut bytes)))?;
        if bytes.len() > cap {
            return Err(Errno::FBIG);
        }
        if read == 0 {
            return Ok(bytes);
        }
        bytes.reserve(1);
    }
}
