//! SQLite databases of systems that only they themselves write: issues of beads, reservations of
//! mcp_agent_mail. Their rows name no process, so it does not matter when they are read.

mod beads;
mod kept;
mod mail;

use std::path::Path;
use std::sync::Arc;

use self::kept::{Keeper, Kept};
use super::copies::Copies;
use super::fence::Fence;
use super::homes::Homes;
use super::sqlite::beside;
use super::watch::Names;
use crate::core::record::Record;
use crate::core::snapshot::{SourceHealth, SourceState};
use crate::core::text::Untrusted;
use crate::format::Reading;

/// Looks at databases again and again.
pub(super) struct Reader {
    beads: Keeper,
    mail: Keeper,
}

/// What one look found.
#[derive(Default)]
pub(super) struct Found {
    records: Vec<Arc<Record>>,
    beads: Vec<beads::Seen>,
    mail: Vec<mail::Seen>,
    /// How each database fared.
    pub(super) sources: Vec<SourceHealth>,
    /// The folders that the databases are in, and which names there tell of a change.
    pub(super) names: Names,
}

impl Reader {
    /// Prepares to read; copies go where it is said.
    pub(super) fn new(copies: &Copies) -> Self {
        Self { beads: Keeper::new(copies), mail: Keeper::new(copies) }
    }

    /// Reads the reservations of all projects, which name repositories that may not be known yet.
    pub(super) fn begin(&mut self, homes: &Homes, fence: &Fence, reading: &Reading<'_>) -> Found {
        let mut found = Found::default();
        mail::read(&mut self.mail, homes, fence, reading, &mut found);
        found
    }

    /// Reads the issues of these working trees as well.
    pub(super) fn finish<'a>(
        &mut self,
        trees: impl IntoIterator<Item = &'a Path>,
        fence: &Fence,
        reading: &Reading<'_>,
        found: &mut Found,
    ) {
        beads::read(&mut self.beads, trees, fence, reading, found);
    }
}

impl Found {
    /// Returns the folders that the rows name.
    pub(super) fn cwds(&self) -> impl Iterator<Item = &Path> {
        self.records.iter().filter_map(|record| record.cwd.as_deref())
    }

    /// Adds the rows to the records of files, and takes out what files only copy from them.
    pub(super) fn join(&self, records: &mut Vec<Arc<Record>>) {
        records.retain(|record| !self.mail.iter().any(|seen| seen.has(record)));
        for record in records.iter_mut() {
            if let Some(left) = self.beads.iter().find_map(|seen| seen.left_of(record)) {
                *record = Arc::new(left);
            }
        }
        records.extend(self.records.iter().cloned());
    }

    /// Notes how one database fared, and where it is.
    fn note(&mut self, system: &str, path: &Path, kept: &Kept, held: usize) {
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
