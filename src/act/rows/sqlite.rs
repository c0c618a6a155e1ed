//! Changes rows of SQLite databases: the only place that opens one for writing.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{
    Connection, Error, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params_from_iter,
};
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::rows::store::Rows;
use crate::core::model::text::shown;
use crate::core::model::{Columns, RowChange, Value};
use crate::format::obra;
use crate::source::database::sqlite;
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::{alone, guard, uri};
use crate::source::os::open::folder::Folder;

/// How long to wait for another writer: 2 s.
const PATIENCE: Duration = Duration::from_secs(2);

/// Obra's databases.
pub struct Sqlite {
    /// Where databases that cannot be read in place are copied to.
    pub copies: Copies,
}

impl Rows for Sqlite {
    fn row(&self, database: &str, table: &str, id: &str) -> Result<Option<Columns>, ActionError> {
        own(database)?;
        let connection = sqlite::open(Path::new(database), &self.copies);
        let connection = connection
            .map_err(|error| ActionError::Refused(format!("failed to read {}: {error}", shown(database))))?;
        select(&connection, table, id).map_err(trouble("read", database))
    }

    fn settle(&self, database: &str) -> Result<(), ActionError> {
        let _alone = alone();
        let read = open(database)?.query_row("SELECT COUNT(*) FROM sqlite_master", [], |_| Ok(()));
        read.map_err(trouble("read", database))
    }

    fn back_up(&self, database: &str, to: &Path) -> Result<(), ActionError> {
        let _alone = alone();
        let connection = open(database)?;
        let copied = connection.execute("VACUUM INTO ?1", [uri(to)]);
        copied.map(drop).map_err(trouble("copy", database))
    }

    fn apply(
        &self,
        database: &str,
        changes: &[RowChange],
        agrees: &mut dyn FnMut() -> Result<(), ActionError>,
    ) -> Result<(), ActionError> {
        let _alone = alone();
        let mut connection = open(database)?;
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(trouble("begin to change", database))?;
        for change in changes {
            let now = select(&transaction, &change.table, &change.id).map_err(trouble("read", database))?;
            if now.as_ref() != Some(&change.before) {
                return Err(ActionError::Changed(format!(
                    "{} {} was written since",
                    change.table, change.id
                )));
            }
        }
        agrees()?;
        for change in changes {
            update(&transaction, change).map_err(trouble("change", database))?;
        }
        transaction.commit().map_err(|error| match is_busy(&error) {
            true => trouble("commit to", database)(error),
            // The result is read back.
            false => ActionError::Unsure(format!("failed to commit to {}: {error}", shown(database))),
        })
    }
}

/// Makes sure that a database is a plain file of the user's own, and that no link leads to it: it was found without
/// one.
fn own(database: &str) -> Result<(), ActionError> {
    let parent = Path::new(database).parent().unwrap_or(Path::new("/"));
    if Folder::open_without_links(parent).is_err_and(|errno| errno == Errno::LOOP) {
        let text =
            format!("the path of {} now contains a link, and nothing is written through it", shown(database));
        return Err(ActionError::Never(text));
    }
    let meta = Path::new(database).symlink_metadata().ok().filter(|meta| meta.is_file());
    let meta =
        meta.ok_or_else(|| ActionError::Changed(format!("{} is not a plain file", shown(database))))?;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(ActionError::Never(format!("{} belongs to user {}", shown(database), meta.uid())));
    }
    Ok(())
}

/// Opens a database for writing; does not create one.
fn open(database: &str) -> Result<Connection, ActionError> {
    own(database)?;
    let path = Path::new(database);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let opened = Connection::open_with_flags(format!("{}?mode=rw", uri(path)), flags);
    let prepared = opened.and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        guard(&connection)?;
        connection.pragma_update(None, "synchronous", "extra")?;
        Ok(connection)
    });
    prepared.map_err(trouble("open", database))
}

fn trouble<'a>(verb: &'a str, database: &'a str) -> impl FnOnce(Error) -> ActionError + 'a {
    move |error| match is_busy(&error) {
        true => ActionError::Changed(format!(
            "{} is locked by a writer: it can only be changed once that writer has finished or ended",
            shown(database)
        )),
        false => ActionError::Refused(format!("failed to {verb} {}: {error}", shown(database))),
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Returns the relevant columns of a table that exist.
fn columns(connection: &Connection, table: &str) -> Result<Vec<&'static str>, Error> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let there: Vec<String> = statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let wanted = obra::columns(table).iter().copied();
    Ok(wanted.filter(|column| there.iter().any(|name| name == column)).collect())
}

fn select(connection: &Connection, table: &str, id: &str) -> Result<Option<Columns>, Error> {
    let names = columns(connection, table)?;
    if names.is_empty() {
        return Ok(None);
    }
    let sql = format!("SELECT {} FROM {table} WHERE id = CAST(?1 AS INTEGER)", names.join(", "));
    let read = |row: &rusqlite::Row<'_>| {
        names
            .iter()
            .enumerate()
            .map(|(at, name)| Ok(((*name).to_owned(), value(row.get_ref(at)?)?)))
            .collect()
    };
    connection.query_row(&sql, [id], read).optional()
}

fn value(value: ValueRef<'_>) -> Result<Value, Error> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(format!("{number:?}")),
        ValueRef::Text(bytes) => Value::Text(std::str::from_utf8(bytes)?.to_owned()),
        // No relevant column ever holds a blob.
        ValueRef::Blob(_) => return Err(Error::InvalidQuery),
    })
}

fn update(connection: &Connection, change: &RowChange) -> Result<(), Error> {
    let differing: Vec<(&str, &Value)> = change.differences().map(|(name, _, after)| (name, after)).collect();
    let names: Vec<String> =
        differing.iter().enumerate().map(|(at, (name, _))| format!("{name} = ?{}", at + 2)).collect();
    if names.is_empty() {
        return Ok(());
    }
    let sql = format!("UPDATE {} SET {} WHERE id = CAST(?1 AS INTEGER)", change.table, names.join(", "));
    let id = Value::Text(change.id.clone());
    let values = std::iter::once(&id).chain(differing.iter().map(|(_, value)| *value)).map(BoundValue);
    connection.execute(&sql, params_from_iter(values)).map(drop)
}

/// A value on its way into a statement.
struct BoundValue<'a>(&'a Value);

impl ToSql for BoundValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let real = |text: &str| text.parse().map_err(|_| Error::InvalidQuery);
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Real(text) => ValueRef::Real(real(text)?),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}
