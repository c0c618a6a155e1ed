//! The rows of opencode's database as lines.

use rusqlite::ToSql;
use rustix::io::Errno;

use crate::core::model::Untrusted;
use crate::format::reading::cells::Cells;
use crate::format::reading::surrogates::replace_lone;
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::tables::{Query, long_rows, rows};
use crate::source::database::sqlite::{Database, ReadError, open};
use crate::source::os::fence::Fence;
use crate::source::versions::files::Text;
use crate::source::versions::session::{SessionFiles, VersionsError};

/// The most rows of a session that are read, the oldest first.
const MOST: usize = 1_000_000;
/// The longest document that is read, in characters: it has what was written.
const LONGEST: usize = 32 << 20;
/// The most sub-sessions that are read.
const SESSIONS: usize = 500;
/// The rows that say what was written, and what the tree was.
const PARTS: &str = "part WHERE session_id = ?1 AND json_valid(data) AND (data ->> '$.type' IN ('step-start', \
                     'step-finish') OR (data ->> '$.type' = 'tool' AND data ->> '$.tool' IN ('edit', 'write', \
                     'apply_patch'))) ORDER BY id";
/// A row without long parts that are not needed.
const DATA: &str = "json_remove(data, '$.state.output', '$.state.metadata')";
/// A session and those below it, itself first; a circle ends.
const BELOW: &str = "session WHERE id IN (WITH RECURSIVE below(id) AS (SELECT ?1 UNION \
                     SELECT session.id FROM session JOIN below ON session.parent_id = below.id) \
                     SELECT id FROM below) ORDER BY id <> ?1, id";

/// Reads the rows of a session and of its sub-sessions as lines.
pub(super) fn texts(
    session: &SessionFiles,
    (fence, copies): (&Fence, &Copies),
) -> Result<Vec<Text>, VersionsError> {
    let path = session.file.clone();
    if !fence.reaches(&path) {
        return Err(VersionsError::File { path, source: Errno::ACCESS });
    }
    let read = || -> Result<Vec<Text>, ReadError> {
        let database = open(&path, copies)?;
        let own = session.session.raw();
        let values: [&dyn ToSql; 1] = [&own];
        let cells = vec![("id", "id"), ("directory", "directory")];
        let query = Query { cells, from: BELOW, values: &values, most: SESSIONS };
        let sessions = rows(&database, &query)?.rows;
        let of = |row: &Cells| {
            let (id, folder) = (row.text("id")?, row.text("directory").unwrap_or_default());
            let sub_agent = (id != own).then(|| Untrusted::from(id));
            Some(lines(&database, id, folder).map(|bytes| Text { sub_agent, bytes, left_out: 0 }))
        };
        sessions.iter().filter_map(of).collect()
    };
    read().map_err(|source| VersionsError::Database { path, source })
}

/// Returns the rows of one session as lines.
fn lines(database: &Database, session: &str, folder: &str) -> Result<Vec<u8>, ReadError> {
    let values: [&dyn ToSql; 1] = [&session];
    let query = Query { cells: vec![("data", DATA)], from: PARTS, values: &values, most: MOST };
    let folder = serde_json::Value::from(folder);
    let mut text = String::new();
    for row in long_rows(database, &query, LONGEST)?.rows {
        let data = row.text("data").unwrap_or_default().replace('\n', " ");
        text.push_str(&format!("{{\"directory\":{folder},\"data\":{data}}}\n"));
    }
    let mut lines = text.into_bytes();
    replace_lone(&mut lines);
    Ok(lines)
}
