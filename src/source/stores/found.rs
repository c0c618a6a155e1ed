//! What was found of the stores of one working tree.

use std::path::Path;
use std::sync::Arc;

use crate::core::model::record::Record;
use crate::core::model::snapshot::{SourceHealth, SourceState};
use crate::core::model::text::Untrusted;
use crate::source::names::Names;
use crate::source::sqlite::files::beside;
use crate::source::stores::kept::Kept;
use crate::source::stores::{beads, mail};

/// What one look found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) records: Vec<Arc<Record>>,
    pub(crate) beads: Vec<beads::Seen>,
    pub(crate) mail: Vec<mail::Seen>,
    /// How each database fared.
    pub(crate) sources: Vec<SourceHealth>,
    /// The folders that the databases are in, and which names there tell of a change.
    pub(crate) names: Names,
}

impl Found {
    /// Returns the folders that the rows name.
    pub(crate) fn cwds(&self) -> impl Iterator<Item = &Path> {
        self.records.iter().filter_map(|record| record.cwd.as_deref())
    }

    /// Adds the rows to the records of files, and takes out what files only copy from them.
    pub(crate) fn join(&self, records: &mut Vec<Arc<Record>>) {
        records.retain(|record| !self.mail.iter().any(|seen| seen.has(record)));
        for record in records.iter_mut() {
            if let Some(left) = self.beads.iter().find_map(|seen| seen.left_of(record)) {
                *record = Arc::new(left);
            }
        }
        records.extend(self.records.iter().cloned());
    }

    /// Notes how one database fared, and where it is.
    pub(crate) fn note(&mut self, system: &str, path: &Path, kept: &Kept, held: usize) {
        let count = format!("{held} held");
        let (state, detail) = match &kept.lacks {
            None => (SourceState::Ok, count),
            Some(why) if kept.rows.is_empty() => (SourceState::Failed, why.clone()),
            Some(why) => (SourceState::Partial, format!("{count}; {why}")),
        };
        let id = format!("{system}:{}", Untrusted::from_path(path).raw());
        self.sources.push(SourceHealth { id, state, detail: detail.into() });
        let names = ["", "-wal"].map(|end| Untrusted::from_path(&beside(path, end)));
        let names = names.iter().filter_map(|name| name.raw().rsplit('/').next().map(str::to_owned));
        if let Some(folder) = path.parent() {
            self.names.entry(folder.to_path_buf()).or_default().extend(names);
        }
    }
}
