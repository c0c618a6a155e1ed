//! beads' databases: SQLite files in `.beads` of a working tree, under any name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::core::model::record::Record;
use crate::core::model::record::ownership::Ownership;
use crate::core::model::snapshot::{SourceHealth, SourceState};
use crate::core::model::text::Untrusted;
use crate::format::beads::{self, DOLT, TABLE};
use crate::format::{Reading, Source};
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::medium::medium_at;
use crate::source::sqlite::tables::{Query, Rows};
use crate::source::sqlite::{Database, ReadError, tables};
use crate::source::stores::found::Found;
use crate::source::stores::{Keeper, Kept};

/// How many databases of one working tree are read.
const MAX_DATABASES: usize = 4;

/// The most issues that are read: those that somebody has taken, and the newest others.
const MOST: usize = 5_000;

/// A database that was read.
pub(crate) struct Seen {
    folder: PathBuf,
    kept: Arc<Kept>,
}

impl Seen {
    /// Returns what is left of an export of this database, if the record is one.
    pub(crate) fn left_of(&self, record: &Record) -> Option<Record> {
        let is_newer = self.kept.lacks.is_none() && self.kept.files.touched_at() >= record.written_at;
        beads::without_copies(record, &self.folder, &self.kept.rows, is_newer)
    }
}

/// Reads the databases of these working trees.
pub(crate) fn read<'a>(
    keeper: &mut Keeper,
    trees: impl IntoIterator<Item = &'a Path>,
    fence: &Fence,
    reading: &Reading<'_>,
    found: &mut Found,
) {
    let mut paths = Vec::new();
    for tree in trees {
        let at = tree.join(".beads");
        let Some(folder) = fence.reaches(&at).then(|| Folder::open(&at).ok()).flatten() else {
            continue;
        };
        let is_database = |name: &OsStr| Path::new(name).extension() == Some(OsStr::new("db"));
        let names = folder.entries(is_database).unwrap_or_default();
        for entry in names.into_iter().take(MAX_DATABASES) {
            let path = at.join(&entry.name);
            if let Some(kept) = keeper.read(&path, reading.now, issues) {
                add(&path, tree, kept, reading, found);
            }
            paths.push(path);
        }
        found
            .sources
            .extend(DOLT.iter().map(|name| at.join(name)).find(|dolt| dolt.is_dir()).map(|dolt| told(&dolt)));
    }
    keeper.retain(&paths);
}

fn add(path: &Path, tree: &Path, kept: Arc<Kept>, reading: &Reading<'_>, found: &mut Found) {
    let source = Source {
        database: Untrusted::from_path(path),
        ownership: Ownership { medium: medium_at(path), ..kept.files.database.ownership },
    };
    let records = beads::rows(&source, tree, &kept.rows, reading);
    found.note("beads", path, &kept, records.len());
    found.records.extend(records);
    found.beads.push(Seen { folder: tree.join(".beads"), kept });
}

/// Tells of a database that cannot be read: what is held in it is unknown, and not nothing.
fn told(dolt: &Path) -> SourceHealth {
    let detail = "issues are kept in Dolt, which is not read; issues.jsonl may be behind it: ask bd itself";
    SourceHealth {
        id: format!("beads:{}", Untrusted::from_path(dolt).raw()),
        state: SourceState::Partial,
        detail: detail.into(),
    }
}

fn issues(database: &Database) -> Result<Option<Rows>, ReadError> {
    let own = tables::columns(database, TABLE)?;
    if !["id", "status", "assignee"].iter().all(|name| own.contains(*name)) {
        return Ok(None);
    }
    let all = [
        ("id", "id"),
        ("status", "status"),
        ("assignee", "assignee"),
        ("title", "title"),
        ("updated_at", "updated_at"),
    ];
    let cells = all.into_iter().filter(|(name, _)| own.contains(*name)).collect();
    let newest = if own.contains("updated_at") { "updated_at" } else { "id" };
    let from = format!("{TABLE} ORDER BY status IN ('in_progress', 'hooked') DESC, {newest} DESC");
    let mut rows = tables::rows(database, &Query { cells, from: &from, values: &[], most: MOST })?;
    // What nobody works on is not missed.
    rows.is_cut &=
        rows.rows.last().is_some_and(|row| matches!(row.text("status"), Some("in_progress" | "hooked")));
    Ok(Some(rows))
}
