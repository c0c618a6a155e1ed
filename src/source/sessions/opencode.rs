//! opencode: one database for all windows, `~/.local/share/opencode/opencode.db`, whose sessions
//! name the folder that they work in and no process.

use std::path::Path;

use jiff::Timestamp;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{Beginning, SessionFile, Tie, Untrusted};
use crate::format::reading::cells::Cells;
use crate::format::reading::time;
use crate::source::database::sqlite;
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::files::Files;
use crate::source::database::sqlite::tables::Query;
use crate::source::database::sqlite::{ReadError, tables};
use crate::source::os::open::meta::is_sure;
use crate::source::sessions::look::{Look, SessionTarget, folders};

/// How many of a folder's sessions are taken, the newest first.
const NEWEST: usize = 8;

/// Whether a session has messages that are older than itself: they are copied.
const FORK: &str = "EXISTS (SELECT 1 FROM message WHERE message.session_id = session.id \
                    AND message.time_created < session.time_created)";

/// The database, as it was last read.
#[derive(Default)]
pub(crate) struct Store {
    kept: Option<RowCache>,
}

struct RowCache {
    files: Files,
    read_at: Timestamp,
    folders: Vec<Untrusted>,
    found: Vec<SessionFile>,
}

impl Store {
    /// Finds the sessions of the folders in which these windows work; none if the database cannot be read.
    pub(crate) fn read(
        &mut self,
        look: &mut Look<'_>,
        home: &Path,
        wanted: &[&SessionTarget],
        now: Timestamp,
        copies: &Copies,
    ) {
        let folders = folders(wanted);
        let path = home.join(".local/share/opencode/opencode.db");
        if folders.is_empty() || !look.fence.reaches(&path) {
            return;
        }
        let Some(files) = Files::stat(&path) else { return };
        let is_known = |kept: &RowCache| {
            is_sure(kept.read_at, files.touched_at()) && kept.files == files && kept.folders == folders
        };
        if !self.kept.as_ref().is_some_and(is_known) {
            let found = sessions(&path, &folders, copies).unwrap_or_default();
            self.kept = Some(RowCache { files, read_at: now, folders, found });
        }
        look.found.extend(self.kept.iter().flat_map(|kept| kept.found.iter().cloned()));
    }
}

fn sessions(path: &Path, folders: &[Untrusted], copies: &Copies) -> Result<Vec<SessionFile>, ReadError> {
    let database = sqlite::open(path, copies)?;
    let columns = tables::columns(&database, "session")?;
    if !["id", "directory", "time_updated"].iter().all(|name| columns.contains(*name)) {
        return Ok(Vec::new());
    }
    // A sub-agent's session belongs to its parent's window, and an archived one to no window.
    let optional = ["parent_id", "time_archived"].into_iter().filter(|name| columns.contains(*name));
    let messages = tables::columns(&database, "message")?;
    let has_times = columns.contains("time_created") && messages.contains("time_created");
    let began = if has_times { "time_created" } else { "NULL" };
    let is_fork = if has_times { FORK } else { "NULL" };
    let is_own: String = optional.map(|name| format!(" AND {name} IS NULL")).collect();
    let from = format!("session WHERE directory = ?1{is_own} ORDER BY time_updated DESC");
    let mut found = Vec::new();
    for folder in folders {
        let query = Query {
            cells: vec![
                ("id", "id"),
                ("time_updated", "time_updated"),
                ("began", began),
                ("is_fork", is_fork),
            ],
            from: &from,
            values: &[&folder.raw()],
            most: NEWEST,
        };
        let rows = tables::rows(&database, &query)?.rows;
        found.extend(rows.iter().filter_map(|row| session(row, folder, path)));
    }
    Ok(found)
}

fn session(row: &Cells, folder: &Untrusted, path: &Path) -> Option<SessionFile> {
    let session = row.text("id").filter(|id| is_valid_id(id))?.into();
    let written_at = row.number("time_updated").and_then(time::epoch_ms)?;
    let at = (path.to_path_buf().into(), written_at);
    let at_last = SessionFile::new("opencode", session, Tie::Folder(folder.clone()), at);
    let beginning = Beginning {
        at: row.number("began").and_then(time::epoch_ms),
        is_fork: row.number("is_fork") == Some(1),
        cleared: None,
    };
    Some(SessionFile { beginning, ..at_last })
}
