//! The sessions in opencode's database.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::ToSql;

use crate::core::model::Format;
use crate::format::reading::cells::Cells;
use crate::format::reading::time::epoch_ms;
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::files::Files;
use crate::source::database::sqlite::tables::{Query, columns, rows};
use crate::source::database::sqlite::{ReadError, open};
use crate::source::os::fence::Fence;
use crate::source::versions::session::{SessionFiles, StoredSession};

/// The most sessions that are taken for the name of one file.
const MOST_NAMING: usize = 100_000;
/// The columns that are read, if they exist.
const SESSION: [&str; 4] = ["id", "directory", "title", "time_updated"];
/// The sessions with parts that have a text, and those above them; a circle ends.
const NAMING: &str = "(WITH RECURSIVE up(id) AS (SELECT DISTINCT session_id FROM part WHERE instr(data, ?1) > 0 \
                      UNION SELECT session.parent_id FROM session JOIN up ON session.id = up.id \
                      WHERE session.parent_id IS NOT NULL) SELECT id FROM up)";

/// Returns the newest sessions of a database, without sub-sessions; none if there is no database.
///
/// # Errors
/// It is locked, damaged or cannot be read.
pub(super) fn sessions(
    path: &Path,
    (fence, copies): (&Fence, &Copies),
    most: usize,
) -> Result<Vec<StoredSession>, ReadError> {
    let Some(files) = Files::stat(path).filter(|_| fence.reaches(path)) else { return Ok(Vec::new()) };
    let database = open(path, copies)?;
    let known = columns(&database, "session")?;
    let cells = SESSION.into_iter().filter(|name| known.contains(*name)).map(|name| (name, name));
    let from = match known.contains("time_updated") {
        true => "session WHERE parent_id IS NULL ORDER BY time_updated DESC",
        false => "session WHERE parent_id IS NULL",
    };
    let query = Query { cells: cells.collect(), from, values: &[], most };
    let session = |row: &Cells| {
        let session = row.text("id")?.into();
        let written_at: Option<Timestamp> = row.number("time_updated").and_then(epoch_ms);
        Some(StoredSession {
            files: SessionFiles { format: Format::OpenCode, session, file: path.to_path_buf() },
            written_at: written_at.unwrap_or_else(|| files.touched_at()),
            size: 0,
            folder: row.text("directory").map(PathBuf::from),
            title: row.text("title").map(Into::into),
        })
    };
    Ok(rows(&database, &query)?.rows.iter().filter_map(session).collect())
}

/// Returns the sessions with parts that have one of these names, also in their sub-sessions.
///
/// # Errors
/// As [`sessions`].
pub(super) fn naming(
    path: &Path,
    names: &[&str],
    (fence, copies): (&Fence, &Copies),
) -> Result<BTreeSet<String>, ReadError> {
    let mut all = BTreeSet::new();
    if !fence.reaches(path) {
        return Ok(all);
    }
    let database = open(path, copies)?;
    for name in names {
        let values: [&dyn ToSql; 1] = [name];
        let query = Query { cells: vec![("id", "id")], from: NAMING, values: &values, most: MOST_NAMING };
        let found = rows(&database, &query)?.rows;
        all.extend(found.iter().filter_map(|row| row.text("id")).map(str::to_owned));
    }
    Ok(all)
}
