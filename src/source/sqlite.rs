//! Opens SQLite databases strictly for reading, beside whoever writes them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

/// How long a read waits for a writer's commit: 100 ms.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many steps of SQLite's machine one read may take, in thousands: some seconds.
const STEPS: u32 = 200_000;

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

/// Opens a database for reading. It is never changed and no file is made beside it: neither a
/// journal is rolled back nor shared memory created. What its schema defines is not trusted.
///
/// # Errors
/// There is none, or SQLite refuses.
pub fn open(path: &Path) -> Result<Connection, ReadError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("{}?mode=ro&readonly_shm=1", uri(path)), flags)?;
    connection.busy_timeout(PATIENCE)?;
    guard(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
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
