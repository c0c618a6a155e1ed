//! The files of a database, and whether they stay unchanged.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, FileType, statat};

use crate::core::model::FileMeta;
use crate::source::os::open::meta::meta_of;

/// The files of a database, as one look found them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    /// The database itself.
    pub(crate) database: FileMeta,
    /// The journal of an open or interrupted transaction.
    pub(crate) journal: Option<FileMeta>,
    pub(crate) wal: Option<FileMeta>,
    pub(crate) has_shared_memory: bool,
}

impl Files {
    /// Inspects a database without opening it: a process that closes a file loses all its locks on it (fcntl(2)).
    /// `None` if there is not a plain file.
    pub(crate) fn stat(path: &Path) -> Option<Self> {
        Some(Self {
            database: plain(path)?,
            journal: plain(&beside(path, "-journal")),
            wal: plain(&beside(path, "-wal")),
            has_shared_memory: plain(&beside(path, "-shm")).is_some(),
        })
    }

    /// Returns the last change of any of these files.
    pub(crate) fn touched_at(&self) -> Timestamp {
        let all = [Some(self.database), self.journal, self.wal].into_iter().flatten();
        all.map(|meta| meta.touched_at()).max().unwrap_or(Timestamp::MAX)
    }
}

/// Returns the facts of a plain file.
pub(crate) fn plain(path: &Path) -> Option<FileMeta> {
    let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| meta_of(&stat))
}

/// Returns the path of a file that SQLite keeps beside a database.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
