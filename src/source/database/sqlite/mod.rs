//! Opens SQLite databases strictly for reading, beside their writers.

pub(crate) mod copies;
pub(crate) mod files;
pub(crate) mod tables;

use std::fs::File;
use std::io::{Read, Write};
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

use crate::source::database::sqlite::copies::{Copies, Copy};
use crate::source::database::sqlite::files::{Files, beside};
use crate::source::os::clock;
use crate::source::os::open::plain::{open_plain, small};

/// How long a read waits for a writer's commit: 100 ms.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many steps of SQLite's machine one read may take, in thousands: some seconds.
const STEPS: u32 = 200_000;

/// The most bytes of an interrupted database and its journal that are copied: 64 MiB.
const MAX_COPY: usize = 64 << 20;

/// How old a change must be for the next one to get a different time: 50 ms. The clock of a file system may stand
/// still for several milliseconds.
const SETTLED: Duration = Duration::from_millis(50);

/// Shared by all threads that have a database open through SQLite, and held alone by a thread that reads its bytes
/// without SQLite: closing a file loses all locks that the same process holds on it (fcntl(2)).
static RAW: RwLock<()> = RwLock::new(());

/// Waits until no thread of this process reads the bytes of a database, and keeps it so.
pub(crate) fn alone() -> RwLockReadGuard<'static, ()> {
    RAW.read().unwrap_or_else(PoisonError::into_inner)
}

/// Why a database could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadError {
    /// A writer holds its lock.
    #[error("it is locked by a writer")]
    Locked,
    /// A writer was interrupted, and only a process with write access can roll that back.
    #[error("an interrupted write left a journal; the next program that writes it will roll it back")]
    Interrupted,
    /// The bytes are not a sound database.
    #[error("it is damaged or not a database: {0}")]
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
pub(crate) struct Database {
    connection: Connection,
    /// The location of the copy that is read instead; it is removed with this value.
    _copy: Option<Arc<Copy>>,
    /// Keeps other threads from reading its bytes meanwhile. Dropped last.
    _alone: RwLockReadGuard<'static, ()>,
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

/// Opens a database for reading. It is never changed and no file is made beside it: no journal is rolled back and no
/// shared memory is created. Its schema is not trusted.
///
/// If an interrupted write left a journal, a copy of both files is rolled back and read. A database that keeps a
/// write-ahead log and that no process has open is also read from a copy, as SQLite would make files beside it even to
/// read it. A copy is read for as long as the files stay as they are.
///
/// # Errors
/// There is no database, or SQLite refuses.
pub(crate) fn open(path: &Path, copies: &Copies) -> Result<Database, ReadError> {
    if is_closed(path) {
        return open_copy(path, copies);
    }
    let shared = alone();
    match connect(path, "mode=ro&readonly_shm=1", OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Ok(connection) => {
            copies.forget(path);
            Ok(Database { connection, _copy: None, _alone: shared })
        }
        Err(ReadError::Interrupted) => {
            drop(shared);
            open_copy(path, copies)
        }
        Err(error) => Err(error),
    }
}

/// Returns whether a database keeps a write-ahead log and no process has it open: the last process that closes it
/// removes the files beside it (sqlite.org/wal.html).
fn is_closed(path: &Path) -> bool {
    let is_alone = |files: Files| files.wal.is_none_or(|wal| wal.size == 0) && !files.has_shared_memory;
    Files::stat(path).is_some_and(is_alone) && has_log(path)
}

/// Returns whether the head of a database says that it keeps a write-ahead log: version 2 for writing and for reading
/// (sqlite.org/fileformat.html, offset 18).
fn has_log(path: &Path) -> bool {
    let Ok(_exclusive) = RAW.try_write() else { return false };
    let mut head = [0; 20];
    let read = open_plain(path).map(|(fd, _)| File::from(fd).read_exact(&mut head));
    matches!((read, head), (Ok(Ok(())), [.., 2, 2]))
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

/// Reads a copy of a database that has no writer.
fn open_copy(path: &Path, copies: &Copies) -> Result<Database, ReadError> {
    let files = Files::stat(path).ok_or(ReadError::Interrupted)?;
    let copy = match copies.kept(path, &files) {
        Some(copy) => copy,
        None => copy_whole(path, &files, copies)?,
    };
    let connection = connect(&copy.database(), "mode=rw", OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    Ok(Database { connection, _copy: Some(copy), _alone: alone() })
}

/// Copies a database with the journal that an interrupted write left beside it, from which the copy is rolled back.
fn copy_whole(path: &Path, before: &Files, copies: &Copies) -> Result<Arc<Copy>, ReadError> {
    let Ok(_exclusive) = RAW.try_write() else { return Err(ReadError::Locked) };
    let size = before.database.size.saturating_add(before.journal.map_or(0, |journal| journal.size));
    if size > MAX_COPY as u64 {
        return Err(ReadError::Failed(format!("it is too big to be copied: {size} bytes")));
    }
    settle(before);
    let failed = |error: std::io::Error| ReadError::Failed(format!("it cannot be copied: {error}"));
    let copy = Arc::new(copies.make().map_err(failed)?);
    copy_new(path, &copy.database()).map_err(failed)?;
    if before.journal.is_some() {
        copy_new(&beside(path, "-journal"), &beside(&copy.database(), "-journal")).map_err(failed)?;
    }
    if Files::stat(path).as_ref() != Some(before) {
        return Err(ReadError::Locked);
    }
    copies.keep(path, *before, &copy);
    Ok(copy)
}

/// Waits until a change during the copying must show in the files' times.
fn settle(files: &Files) {
    let age = clock::now().duration_since(files.touched_at()).unsigned_abs();
    std::thread::sleep(SETTLED.saturating_sub(age));
}

fn copy_new(from: &Path, to: &Path) -> std::io::Result<()> {
    let bytes = small(from, MAX_COPY).map_err(std::io::Error::other)?;
    File::options().write(true).create_new(true).mode(0o600).open(to)?.write_all(&bytes)
}

/// Makes a connection distrust the file's content, and bounds its computing time.
///
/// # Errors
/// SQLite refuses.
pub(crate) fn guard(connection: &Connection) -> Result<(), Error> {
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

/// Returns a path as the start of a `file:` URI, with every special byte escaped.
pub(crate) fn uri(path: &Path) -> String {
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
    use std::path::PathBuf;

    fn copied(folder: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn a_database_that_only_a_copy_shows_is_copied_when_it_has_changed_and_no_sooner() {
        let world = tempfile::tempdir().unwrap();
        let (path, folder) = (world.path().join("own.db"), world.path().join("state/copies"));
        let write = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        write("PRAGMA journal_mode = wal; CREATE TABLE t (n); INSERT INTO t VALUES (1)");
        let copies = Copies::in_folder(&folder);
        let read = || -> i64 {
            let database = open(&path, &copies).unwrap();
            database.query_row("SELECT SUM(n) FROM t", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(read(), 1);
        let first = copied(&folder);
        assert_eq!((read(), copied(&folder)), (1, first.clone()));
        write("INSERT INTO t VALUES (2)");
        assert_eq!(read(), 3);
        let second = copied(&folder);
        assert!(first.len() == 1 && second.len() == 1 && first != second, "{first:?} {second:?}");
        drop(copies);
        assert_eq!(copied(&folder).len(), 0);
        let beside: Vec<_> = copied(world.path());
        assert_eq!(beside.len(), 2, "nothing but the database and the state folder: {beside:?}");
    }

    #[test]
    fn no_byte_of_a_path_becomes_an_option() {
        assert_eq!(uri(Path::new("/a b/ü?mode=rwc#x%.db")), "file:/a%20b/%C3%BC%3Fmode%3Drwc%23x%25.db");
    }
}
