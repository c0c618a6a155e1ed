//! Tables of other programs' SQLite databases. They are probed column by column, as their schemas change, and read in
//! bounded numbers.

use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ToSql};

use crate::format::reading::cells::Cells;
use crate::source::database::sqlite::ReadError;

/// The most characters of one cell that are read by default.
const MAX_CELL: usize = 512;

/// Returns the columns of a table; empty if there is no such table.
///
/// # Errors
/// It is locked, damaged or cannot be read.
pub(crate) fn columns(connection: &Connection, table: &str) -> Result<BTreeSet<String>, ReadError> {
    let sql = "SELECT c.name FROM sqlite_master m, pragma_table_info(m.name) c \
               WHERE m.type = 'table' AND m.name = ?1";
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map([table], |row| row.get::<_, String>(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// A query of a database.
pub(crate) struct Query<'a> {
    /// Each cell's name and its expression.
    pub(crate) cells: Vec<(&'static str, &'a str)>,
    /// The text after `FROM`, without a limit.
    pub(crate) from: &'a str,
    pub(crate) values: &'a [&'a dyn ToSql],
    /// The most rows that are read.
    pub(crate) most: usize,
}

/// Rows that were read.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Each row's cells as text.
    pub(crate) rows: Vec<Cells>,
    /// Whether there are more.
    pub(crate) is_cut: bool,
}

/// Reads rows.
///
/// # Errors
/// It is locked, damaged or cannot be read.
pub(crate) fn rows(connection: &Connection, query: &Query<'_>) -> Result<Rows, ReadError> {
    long_rows(connection, query, MAX_CELL)
}

/// Reads rows with cells of up to this many characters.
///
/// # Errors
/// As [`rows`].
pub(crate) fn long_rows(
    connection: &Connection,
    query: &Query<'_>,
    longest: usize,
) -> Result<Rows, ReadError> {
    let cells = query.cells.iter().map(|(_, cell)| format!("substr({cell}, 1, {longest})"));
    let cells = cells.collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT {cells} FROM {} LIMIT {}", query.from, query.most.saturating_add(1));
    let mut statement = connection.prepare(&sql)?;
    let mut found = statement.query(query.values)?;
    let mut all = Rows::default();
    while let Some(row) = found.next()? {
        if all.rows.len() == query.most {
            all.is_cut = true;
            break;
        }
        let cell =
            |(at, (name, _)): (usize, &(&str, _))| Some(((*name).to_owned(), text(row.get_ref(at).ok()?)?));
        all.rows.push(Cells(query.cells.iter().enumerate().filter_map(cell).collect()));
    }
    Ok(all)
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}
