//! Which session is rebuilt, and why that may fail.

use std::path::PathBuf;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::core::model::{Format, Untrusted};
use crate::source::database::sqlite::ReadError;

/// The files of one session.
#[derive(Clone, Debug)]
pub(crate) struct SessionFiles {
    /// Its agent's format.
    pub(crate) format: Format,
    /// The session's ID.
    pub(crate) session: Untrusted,
    /// Its transcript, or the database that has it, where its agent keeps it: copies of files are found from there.
    pub(crate) file: PathBuf,
}

/// A session that its agent has kept.
#[derive(Clone, Debug)]
pub(crate) struct StoredSession {
    pub(crate) files: SessionFiles,
    pub(crate) written_at: Timestamp,
    /// The size of its transcript in bytes; 0 in a database.
    pub(super) size: u64,
    /// The folder in which it began, as far as known.
    pub(super) folder: Option<PathBuf>,
    /// Its title, if it lies in a database.
    pub(super) title: Option<Untrusted>,
}

impl StoredSession {
    /// Returns a session of which only its files are known.
    pub(crate) fn new(files: SessionFiles, written_at: Timestamp) -> Self {
        Self { files, written_at, size: 0, folder: None, title: None }
    }
}

/// Why nothing can be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VersionsError {
    /// The session's file cannot be read, is not a plain file of this user's, or must not be read.
    #[error("{path} cannot be read: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Errno,
    },
    /// Its database cannot be read.
    #[error("{path} cannot be read: {source}")]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// Its agent keeps no content, or it is not known where.
    #[error("sessions of this format keep nothing from which files could be rebuilt")]
    NotKept,
}
