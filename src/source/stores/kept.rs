//! What earlier looks read of databases, so that one that has not changed is not opened again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::format::cells::Cells;
use crate::source::os::open::meta::is_sure;
use crate::source::sqlite;
use crate::source::sqlite::copies::Copies;
use crate::source::sqlite::files::Files;
use crate::source::sqlite::tables::Rows;
use crate::source::sqlite::{Database, ReadError};

/// Keeps what was read, by path.
pub(crate) struct Keeper {
    copies: Copies,
    kept: BTreeMap<PathBuf, Arc<Kept>>,
}

/// What was read of one database.
pub(crate) struct Kept {
    /// Its files.
    pub(crate) files: Files,
    read_at: Timestamp,
    /// The rows.
    pub(crate) rows: Vec<Cells>,
    /// Whether it is a database of this system.
    is_own: bool,
    /// Why this is less than everything.
    pub(crate) lacks: Option<String>,
}

impl Kept {
    /// Returns whether files with these facts must still have the content that was read.
    fn is_of(&self, files: &Files) -> bool {
        self.lacks.is_none() && self.files == *files && is_sure(self.read_at, files.touched_at())
    }
}

impl Keeper {
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { copies: copies.clone(), kept: BTreeMap::new() }
    }

    /// Reads a database by `query`, which gives nothing for one of another system; `None` where
    /// there is none of this system. What cannot be read now keeps its last rows, and says so.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        now: Timestamp,
        query: impl FnOnce(&Database) -> Result<Option<Rows>, ReadError>,
    ) -> Option<Arc<Kept>> {
        let files = Files::of(path)?;
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
    before: Option<&Kept>,
    outcome: Result<Option<Rows>, ReadError>,
) -> Kept {
    match outcome {
        Ok(rows) => {
            let is_own = rows.is_some();
            let rows = rows.unwrap_or_default();
            let lacks =
                rows.is_cut.then(|| format!("more than {} rows; the others were not read", rows.rows.len()));
            Kept { files, read_at, rows: rows.rows, is_own, lacks }
        }
        Err(error) => {
            let is_damaged = matches!(error, ReadError::Corrupt(_));
            let rows = before.filter(|_| !is_damaged).map(|kept| kept.rows.clone()).unwrap_or_default();
            Kept { files, read_at, rows, is_own: true, lacks: Some(error.to_string()) }
        }
    }
}
