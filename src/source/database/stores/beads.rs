//! beads' databases: SQLite files in `.beads` of a working tree, under any name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{Record, Snapshot, SourceHealth, SourceState, Untrusted};
use crate::format::beads::{self, DOLT, TABLE};
use crate::format::reading::cells::Cells;
use crate::format::{self, Reading};
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::tables::{Query, Rows};
use crate::source::database::sqlite::{Database, ReadError, tables};
use crate::source::database::stores::kept::{Keeper, Store};
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::Folder;

/// How many databases of one working tree are read.
const MAX_DATABASES: usize = 4;

/// The most issues that are read: the taken ones, and the newest others.
const MOST: usize = 5_000;

/// Looks at the databases of working trees again and again.
pub(crate) struct Reader {
    keeper: Keeper,
    stores: Vec<Store>,
    health: Vec<SourceHealth>,
}

impl Reader {
    /// Creates a reader that keeps its database copies with `copies`.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { keeper: Keeper::new(copies), stores: Vec::new(), health: Vec::new() }
    }

    /// Reads the databases of one working tree, and returns their paths.
    fn read_tree(&mut self, tree: &Path, fence: &Fence, reading: &Reading<'_>) -> Vec<PathBuf> {
        let at = tree.join(".beads");
        let Some(folder) = fence.reaches(&at).then(|| Folder::open(&at).ok()).flatten() else {
            return Vec::new();
        };
        let is_database = |name: &OsStr| Path::new(name).extension() == Some(OsStr::new("db"));
        let names = folder.entries(is_database).unwrap_or_default();
        let paths: Vec<PathBuf> =
            names.into_iter().take(MAX_DATABASES).map(|entry| at.join(&entry.name)).collect();
        for path in &paths {
            let Some(kept) = self.keeper.read(path, reading.now, issues) else { continue };
            let records = |source: &format::Source, rows: &[Cells]| beads::rows(source, tree, rows, reading);
            let store = Store::new(path.clone(), kept, records);
            self.health.push(store.health("beads"));
            self.stores.push(store);
        }
        let dolt = DOLT.iter().map(|name| at.join(name)).find(|dolt| dolt.is_dir());
        self.health.extend(dolt.map(|dolt| unsupported(&dolt)));
        paths
    }

    /// Returns the remainder of a record that exports one of the databases; `None` if it does not.
    fn left_of(&self, record: &Record) -> Option<Record> {
        self.stores.iter().find_map(|Store { path, kept, .. }| {
            let is_newer = kept.lacks.is_none() && kept.files.touched_at() >= record.written_at;
            beads::without_copies(record, path.parent()?, &kept.rows, is_newer)
        })
    }
}

impl Source for Reader {
    /// Reads the databases of all working trees, adds their rows, and removes records of files that only copy them.
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        (self.stores, self.health) = (Vec::new(), Vec::new());
        let trees = snapshot.repos.iter().flat_map(|repo| &repo.worktrees).filter(|tree| tree.exists);
        let paths = trees.flat_map(|tree| self.read_tree(&tree.path, &scope.fence, reading));
        let paths: Vec<PathBuf> = paths.collect();
        self.keeper.retain(&paths);
        for record in &mut snapshot.records {
            if let Some(left) = self.left_of(record) {
                *record = Arc::new(left);
            }
        }
        snapshot.records.extend(self.stores.iter().flat_map(|store| store.records.iter().cloned()));
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        self.health.clone()
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        self.stores.iter().for_each(|store| store.hints(hints));
    }
}

/// Returns the badge of a database that cannot be read: its holds are unknown, not absent.
fn unsupported(dolt: &Path) -> SourceHealth {
    let detail = "issues are kept in Dolt, which is detected but not supported; issues.jsonl may lag behind: ask bd itself";
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
    // Missing issues only matter if an agent works on them.
    rows.is_cut &=
        rows.rows.last().is_some_and(|row| matches!(row.text("status"), Some("in_progress" | "hooked")));
    Ok(Some(rows))
}
