//! Reads files of lines that claimtop keeps in its state folder; ignores a file that others could write.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::io::Errno;
use serde::de::DeserializeOwned;

use crate::core::model::{FileMeta, Host};
use crate::source::os::open::plain::open_plain;

/// The most bytes that are read: the kept lines are less than half of it.
const MAX_SIZE: u64 = 4 << 20;

/// The bits of others who may write.
pub(crate) const OTHERS_WRITE: u16 = 0o022;

/// Reads a file when it has changed.
#[derive(Default)]
pub(crate) struct OwnLines {
    meta: Option<FileMeta>,
}

impl OwnLines {
    /// Reads the file if it is another one than before.
    pub(crate) fn changed<T: DeserializeOwned>(&mut self, path: &Path, host: &Host) -> Option<Vec<T>> {
        let (fd, meta) = open_plain(path).ok()?;
        if self.meta.replace(meta) == Some(meta) {
            return None;
        }
        trusted(fd, &meta, host)
    }
}

/// Reads the lines of a file, as many as we would have written; nothing if others can write it, or if there is none.
///
/// # Errors
/// It is not a plain file, or the system refuses.
pub(crate) fn kept<T: DeserializeOwned>(path: &Path, host: &Host) -> Result<Vec<T>, Errno> {
    match open_plain(path) {
        Ok((fd, meta)) => Ok(trusted(fd, &meta, host).unwrap_or_default()),
        Err(Errno::NOENT) => Ok(Vec::new()),
        Err(errno) => Err(errno),
    }
}

/// Reads an open file; `None` if others can write it, as it then proves nothing. A line that makes no sense is
/// dropped.
fn trusted<T: DeserializeOwned>(fd: OwnedFd, meta: &FileMeta, host: &Host) -> Option<Vec<T>> {
    if meta.ownership.uid != host.uid || meta.ownership.mode & OTHERS_WRITE != 0 {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(fd).take(MAX_SIZE).read_to_end(&mut bytes).ok()?;
    Some(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
