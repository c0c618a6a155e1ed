//! Obra's databases: finds them, reads them when they change, and determines which processes have them open.

pub(crate) mod find;
pub(crate) mod log;
pub(crate) mod openers;
pub(crate) mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use self::find::{Candidate, Search};
use self::log::Logs;
use self::openers::Openers;
use self::read::Files;
pub(crate) use self::read::MAX_ROWS;
use super::sqlite::ReadError;
use crate::core::model::{
    Database, DatabaseFile, Format, Ownership, ProcessTable, Record, Snapshot, SourceHealth, SourceState,
    Untrusted,
};
use crate::format::obra::{self, Tables};
use crate::format::{self, Base, Reading};
use crate::source::database::sqlite::copies::Copies;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::meta::is_sure;
use crate::source::os::opener::File;

/// Looks at databases again and again.
#[derive(Default)]
pub(crate) struct Reader {
    copies: Copies,
    kept: BTreeMap<PathBuf, DatabaseCache>,
    /// The folders in which agents and Obra worked at the last look.
    folders: BTreeSet<PathBuf>,
    openers: Openers,
    logs: Logs,
    /// The databases of this look.
    seen: Vec<DatabaseView>,
}

/// The cached content of one database.
struct DatabaseCache {
    files: Files,
    read_at: Timestamp,
    tables: Tables,
    /// Why the last read was incomplete.
    lacks: Option<String>,
}

/// One database of one look.
struct DatabaseView {
    path: PathBuf,
    name: Untrusted,
    files: Files,
    lacks: Option<String>,
    has_failed: bool,
    records: Vec<Arc<Record>>,
}

impl Source for Reader {
    fn look(&mut self, scope: &Scope, reading: &Reading<'_>) {
        self.seen = self.read(scope, reading);
    }

    /// Notes the folders in which agents and Obra's own processes work.
    fn follow(&mut self, working: &BTreeSet<PathBuf>, processes: &ProcessTable) -> bool {
        let details = processes.by_pid.values().filter_map(|process| process.details.as_ref());
        let runners = details.filter(|details| obra::is_runner(details.argv.iter().map(Untrusted::raw)));
        let cwds = runners.filter_map(|details| details.cwd.as_ref());
        let folders: BTreeSet<PathBuf> =
            cwds.map(|cwd| PathBuf::from(cwd.raw())).chain(working.iter().cloned()).collect();
        let is_any_new = !folders.is_subset(&self.folders);
        self.folders = folders;
        is_any_new
    }

    fn look_further(&mut self, scope: &Scope, reading: &Reading<'_>) -> bool {
        self.look(scope, reading);
        self.seen.iter().any(|seen| !seen.records.is_empty())
    }

    fn add_to(&mut self, snapshot: &mut Snapshot, _scope: &Scope, _reading: &Reading<'_>) {
        snapshot.records.extend(self.seen.iter().flat_map(|seen| seen.records.iter().cloned()));
        snapshot.databases.extend(self.databases(&snapshot.processes));
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        self.seen.iter().map(DatabaseView::health).collect()
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        hints.folders.extend(self.seen.iter().filter_map(|seen| seen.path.parent().map(Path::to_path_buf)));
    }
}

impl Reader {
    /// Creates a reader that keeps its database copies with `copies`.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { copies: copies.clone(), ..Self::default() }
    }

    /// Reads every database that is found: the named ones, and those in the usual places below the homes, the roots,
    /// and the folders in which agents or Obra work.
    fn read(&mut self, scope: &Scope, reading: &Reading<'_>) -> Vec<DatabaseView> {
        let Scope { places, homes, fence, .. } = scope;
        let homes = homes.folders_of(Base::Home).map(|home| &home.path);
        let named = places.roots.iter().chain(&places.here);
        let folders: BTreeSet<&PathBuf> = homes.chain(named).chain(&self.folders).collect();
        let search = Search { named: &places.obra_databases, fence };
        let found = search.find(folders.iter().map(|folder| folder.as_path()));
        let abandoned = match found.is_empty() {
            true => Vec::new(),
            false => self.logs.abandoned(folders.into_iter().map(PathBuf::as_path), fence),
        };
        self.kept.retain(|path, _| found.iter().any(|candidate| candidate.path == *path));
        found.iter().filter_map(|candidate| self.read_one(candidate, &abandoned, reading)).collect()
    }

    fn read_one(
        &mut self,
        candidate: &Candidate,
        abandoned: &[String],
        reading: &Reading<'_>,
    ) -> Option<DatabaseView> {
        let path = &candidate.path;
        let Some(files) = Files::stat(path) else {
            return candidate.is_named.then(|| absent(candidate));
        };
        let before = self.kept.remove(path);
        let is_known = |kept: &DatabaseCache| kept.lacks.is_none() && kept.is_of(&files);
        let (mut kept, has_failed) = match before {
            Some(kept) if is_known(&kept) => (kept, false),
            before => match read::tables(path, &self.copies) {
                Ok(None) if !candidate.is_named => return None,
                Ok(None) => {
                    (self::failed(files.clone(), reading.now, None, "it is not an Obra database"), true)
                }
                Ok(Some((tables, lacks))) => {
                    (DatabaseCache { files: files.clone(), read_at: reading.now, tables, lacks }, false)
                }
                Err(error) => {
                    let is_damaged = matches!(error, ReadError::Corrupt(_));
                    let before = before.filter(|_| !is_damaged);
                    (failed(files.clone(), reading.now, before, &error.to_string()), true)
                }
            },
        };
        kept.tables.abandoned = abandoned.to_vec();
        kept.tables.is_remote = candidate.is_remote;
        let source = format::Source {
            database: Untrusted::from_path(path),
            ownership: Ownership { medium: medium_at(path), ..files.ownership() },
        };
        let seen = DatabaseView {
            path: path.clone(),
            name: source.database.clone(),
            lacks: kept.lacks.clone(),
            has_failed,
            records: obra::read(&source, &kept.tables, reading),
            files,
        };
        self.kept.insert(path.clone(), kept);
        Some(seen)
    }

    /// Determines which processes use these databases. Runs after the processes were listed, so that a process that
    /// came before a row was read is seen.
    fn databases(&mut self, processes: &ProcessTable) -> Vec<Database> {
        let seen = &self.seen;
        if seen.is_empty() {
            return Vec::new();
        }
        let files: Vec<File> = seen.iter().map(DatabaseView::file).collect();
        let used = self.openers.look(&files, processes);
        seen.iter()
            .zip(used.by_file)
            .map(|(seen, opened_by)| Database {
                format: Format::Obra,
                name: seen.name.clone(),
                is_complete: seen.lacks.is_none(),
                opened_by,
                work: <_>::default(),
                file: Some(DatabaseFile {
                    runners: used.runners.clone(),
                    journal_since: seen.files.journal_since(),
                    written_by: seen.files.written_by(),
                    named: self
                        .kept
                        .get(&seen.path)
                        .map(|kept| obra::named(&kept.tables, processes))
                        .unwrap_or_default(),
                }),
            })
            .collect()
    }
}

impl DatabaseCache {
    /// Returns whether files with these facts must still have the content that was read.
    fn is_of(&self, files: &Files) -> bool {
        self.files == *files && files.touched_at().is_some_and(|touched_at| is_sure(self.read_at, touched_at))
    }
}

/// Keeps the last good rows of a database that cannot be read now.
fn failed(files: Files, now: Timestamp, before: Option<DatabaseCache>, why: &str) -> DatabaseCache {
    let tables = before.map(|kept| kept.tables).unwrap_or_default();
    DatabaseCache { files, read_at: now, tables, lacks: Some(why.to_owned()) }
}

fn absent(candidate: &Candidate) -> DatabaseView {
    DatabaseView {
        path: candidate.path.clone(),
        name: Untrusted::from_path(&candidate.path),
        files: Files::default(),
        lacks: Some("there is no such plain file".to_owned()),
        has_failed: true,
        records: Vec::new(),
    }
}

impl DatabaseView {
    /// Returns the badge of the database.
    fn health(&self) -> SourceHealth {
        let count = format!("{} rows", self.records.len());
        let (state, detail) = match &self.lacks {
            None => (SourceState::Ok, count),
            Some(why) if self.has_failed => (SourceState::Failed, why.clone()),
            Some(why) => (SourceState::Partial, format!("{count}; {why}")),
        };
        SourceHealth { id: format!("obra:{}", self.name.raw()), state, detail: detail.into() }
    }

    fn file(&self) -> File {
        let name = self.path.file_name().unwrap_or_default();
        File { name: name.as_bytes().to_vec(), id: self.files.id() }
    }
}
