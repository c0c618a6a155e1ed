//! Opens SQLite databases strictly for reading, beside whoever writes them.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use rustix::fs::{AtFlags, CWD, FileType, statat};
use tempfile::TempDir;

use super::open::{meta_of, small};
use crate::core::file::FileMeta;

/// How long a read waits for a writer's commit: 100 ms.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many steps of SQLite's machine one read may take, in thousands: some seconds.
const STEPS: u32 = 200_000;

/// The most bytes of an interrupted database and its journal that are copied: 64 MiB.
const MAX_COPY: usize = 64 << 20;

/// Held by whoever reads the bytes of a database without SQLite, and by whoever writes one with
/// it: closing a file loses all locks that the same process holds on it (fcntl(2)).
static RAW: Mutex<()> = Mutex::new(());

/// Waits until nobody of this process reads the bytes of a database, and keeps it so.
pub fn alone() -> MutexGuard<'static, ()> {
    RAW.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a database could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A writer is at it.
    #[error("it is locked by a writer")]
    Locked,
    /// A writer was interrupted, and only who may write can take that back.
    #[error("an interrupted write left a journal; the next program that writes it will roll it back")]
    Interrupted,
    /// The bytes are no sound database.
    #[error("it is damaged or no database: {0}")]
    Corrupt(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl From<Error> for ReadError {
    fn from(error: Error) -> Self {
        let words = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            // SQLITE_READONLY_ROLLBACK: there is a hot journal (sqlite.org/rescode.html).
            Some(ErrorCode::ReadOnly) => Self::Interrupted,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(words),
            _ => Self::Failed(words),
        }
    }
}

/// A database that is open for reading.
pub struct Database {
    connection: Connection,
    /// Where the copy lies that is read instead; it goes with this value.
    _copy: Option<TempDir>,
}

impl Deref for Database {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Database {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

/// Opens a database for reading. It is never changed and no file is made beside it: neither a
/// journal is rolled back nor shared memory created. What its schema defines is not trusted.
///
/// Where an interrupted write left a journal, a copy of both files is rolled back and read, in a
/// private temporary folder.
///
/// # Errors
/// There is none, or SQLite refuses.
pub fn open(path: &Path) -> Result<Database, ReadError> {
    match connect(path, "mode=ro&readonly_shm=1", OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Ok(connection) => Ok(Database { connection, _copy: None }),
        Err(ReadError::Interrupted) => open_copy(path),
        Err(error) => Err(error),
    }
}

fn connect(path: &Path, mode: &str, access: OpenFlags) -> Result<Connection, ReadError> {
    let flags = access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("{}?{mode}", uri(path)), flags)?;
    connection.busy_timeout(PATIENCE)?;
    guard(&connection)?;
    // Only the first read looks for a journal.
    connection.query_row("SELECT COUNT(*) FROM sqlite_master", [], |_| Ok(()))?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Copies an interrupted database and its journal, and lets the copy be rolled back. Nobody
/// writes such a database, or SQLite would not call it interrupted.
fn open_copy(path: &Path) -> Result<Database, ReadError> {
    let Ok(_alone) = RAW.try_lock() else { return Err(ReadError::Interrupted) };
    let journal = beside(path, "-journal");
    let facts = || Some((plain(path)?, plain(&journal)?));
    let before = facts().ok_or(ReadError::Interrupted)?;
    if before.0.size.saturating_add(before.1.size) > MAX_COPY as u64 {
        return Err(ReadError::Interrupted);
    }
    let failed = |error: std::io::Error| ReadError::Failed(format!("it cannot be copied: {error}"));
    let folder = tempfile::Builder::new().prefix("claimtop-read-").tempdir().map_err(failed)?;
    let copy = folder.path().join("database");
    for (from, to) in [(path, &copy), (&journal, &beside(&copy, "-journal"))] {
        copy_new(from, to).map_err(failed)?;
    }
    if facts() != Some(before) {
        return Err(ReadError::Locked);
    }
    let connection = connect(&copy, "mode=rw", OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    Ok(Database { connection, _copy: Some(folder) })
}

fn copy_new(from: &Path, to: &Path) -> std::io::Result<()> {
    let bytes = small(from, MAX_COPY).map_err(std::io::Error::other)?;
    File::options().write(true).create_new(true).mode(0o600).open(to)?.write_all(&bytes)
}

/// Returns the facts of a plain file.
pub fn plain(path: &Path) -> Option<FileMeta> {
    let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| meta_of(&stat))
}

/// Returns the path of a file that SQLite keeps beside a database.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes a connection sceptical of what the file says, and bounds how long it computes.
///
/// # Errors
/// SQLite refuses.
pub fn guard(connection: &Connection) -> Result<(), Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    let mut left = STEPS;
    connection.progress_handler(
        1_000,
        Some(move || {
            left = left.saturating_sub(1);
            left == 0
        }),
    )
}

/// Returns a path as the start of a `file:` URI, every byte that means something escaped.
pub fn uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_of_a_path_becomes_an_option() {
        assert_eq!(uri(Path::new("/a b/ü?mode=rwc#x%.db")), "file:/a%20b/%C3%BC%3Fmode%3Drwc%23x%25.db");
    }
}
