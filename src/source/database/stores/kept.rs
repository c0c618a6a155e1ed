//! Rows that earlier looks read of databases, so that an unchanged database is not opened again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{Ownership, Record, SourceHealth, SourceState, Untrusted};
use crate::format::Source;
use crate::format::reading::cells::Cells;
use crate::source::database::sqlite;
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::files::{Files, beside};
use crate::source::database::sqlite::tables::Rows;
use crate::source::database::sqlite::{Database, ReadError};
use crate::source::interface::Hints;
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::meta::is_sure;

/// Keeps read databases, by path.
pub(crate) struct Keeper {
    copies: Copies,
    kept: BTreeMap<PathBuf, Arc<StoreCache>>,
}

/// The cached content of one database.
pub(crate) struct StoreCache {
    pub(crate) files: Files,
    read_at: Timestamp,
    pub(crate) rows: Vec<Cells>,
    /// Whether it is a database of this system.
    is_own: bool,
    /// Why the content is incomplete.
    pub(crate) lacks: Option<String>,
}

impl StoreCache {
    /// Returns whether files with these facts must still have the content that was read.
    fn is_of(&self, files: &Files) -> bool {
        self.lacks.is_none() && self.files == *files && is_sure(self.read_at, files.touched_at())
    }
}

/// A database of one look: its content, and the records of its rows.
pub(crate) struct Store {
    pub(crate) path: PathBuf,
    pub(crate) kept: Arc<StoreCache>,
    pub(crate) records: Vec<Arc<Record>>,
}

impl Store {
    /// Makes the records of a database's rows.
    pub(crate) fn new(
        path: PathBuf,
        kept: Arc<StoreCache>,
        records: impl FnOnce(&Source, &[Cells]) -> Vec<Arc<Record>>,
    ) -> Self {
        let source = Source {
            database: Untrusted::from_path(&path),
            ownership: Ownership { medium: medium_at(&path), ..kept.files.database.ownership },
        };
        Self { records: records(&source, &kept.rows), path, kept }
    }

    pub(crate) fn health(&self, system: &str) -> SourceHealth {
        let count = format!("{} held", self.records.len());
        let (state, detail) = match &self.kept.lacks {
            None => (SourceState::Ok, count),
            Some(why) if self.kept.rows.is_empty() => (SourceState::Failed, why.clone()),
            Some(why) => (SourceState::Partial, format!("{count}; {why}")),
        };
        let id = format!("{system}:{}", Untrusted::from_path(&self.path).raw());
        SourceHealth { id, state, detail: detail.into() }
    }

    /// Adds the file names in its folder whose change means another look.
    pub(crate) fn hints(&self, hints: &mut Hints) {
        let Some(folder) = self.path.parent() else { return };
        let names = ["", "-wal"].map(|end| Untrusted::from_path(&beside(&self.path, end)));
        let names = names.iter().filter_map(|name| name.raw().rsplit('/').next().map(str::to_owned));
        hints.folders.insert(folder.to_path_buf());
        hints.names.entry(folder.to_path_buf()).or_default().extend(names);
    }
}

impl Keeper {
    /// Creates a reader that keeps its database copies with `copies`.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { copies: copies.clone(), kept: BTreeMap::new() }
    }

    /// Reads a database by `query`, which returns nothing for a database of another system; `None` if it is not of
    /// this system. A database that cannot be read now keeps its last rows, and reports that.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        now: Timestamp,
        query: impl FnOnce(&Database) -> Result<Option<Rows>, ReadError>,
    ) -> Option<Arc<StoreCache>> {
        let files = Files::stat(path)?;
        let before = self.kept.remove(path);
        let kept = match before {
            Some(kept) if kept.is_of(&files) => kept,
            before => {
                let outcome = sqlite::open(path, &self.copies).and_then(|database| query(&database));
                Arc::new(read(files, now, before.as_deref(), outcome))
            }
        };
        self.kept.insert(path.to_path_buf(), Arc::clone(&kept));
        Some(kept).filter(|kept| kept.is_own)
    }

    /// Forgets all databases but these.
    pub(crate) fn retain(&mut self, paths: &[PathBuf]) {
        self.kept.retain(|path, _| paths.contains(path));
    }
}

fn read(
    files: Files,
    read_at: Timestamp,
    before: Option<&StoreCache>,
    outcome: Result<Option<Rows>, ReadError>,
) -> StoreCache {
    match outcome {
        Ok(rows) => {
            let is_own = rows.is_some();
            let rows = rows.unwrap_or_default();
            let lacks =
                rows.is_cut.then(|| format!("more than {} rows; the others were not read", rows.rows.len()));
            StoreCache { files, read_at, rows: rows.rows, is_own, lacks }
        }
        Err(error) => {
            let is_damaged = matches!(error, ReadError::Corrupt(_));
            let rows = before.filter(|_| !is_damaged).map(|kept| kept.rows.clone()).unwrap_or_default();
            StoreCache { files, read_at, rows, is_own: true, lacks: Some(error.to_string()) }
        }
    }
}
