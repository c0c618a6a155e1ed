//! What guarded windows wrote down of themselves: edits that no session file tells, and of what a guard has
//! told them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::ledger::{HeldUp, LedgerLine, Met, Touched, folder_name, is_seen};
use crate::core::model::{
    Committed, Edit, FileMeta, Repo, Snapshot, SourceHealth, Untrusted, Warned, Warning, Work,
};
use crate::format::Reading;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::ledger::{is_ledger, lines_of};
use crate::source::os::open::folder::Folder;
use crate::source::work::committed::{Known, Marker};

/// The most working trees whose ledgers are read, and the most of them of one working tree.
const MOST_TREES: usize = 64;
const MOST_LEDGERS: usize = 256;
/// The most warnings of one session that are told, the newest.
const MOST_WARNINGS: usize = 32;

/// Reads the ledgers of the sessions that are known.
#[derive(Default)]
pub(crate) struct Reader {
    known: HashMap<PathBuf, (FileMeta, Arc<Said>)>,
    folders: BTreeSet<PathBuf>,
}

/// What a session wrote down.
#[derive(Clone, Default)]
struct Said {
    edits: BTreeMap<Untrusted, Timestamp>,
    warnings: BTreeSet<Warning>,
}

impl Source for Reader {
    fn look(&mut self, _scope: &Scope, _reading: &Reading<'_>) {}

    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        self.folders.clear();
        let before = std::mem::take(&mut self.known);
        let Some(trees) = scope.places.ledgers() else { return };
        let sessions: BTreeSet<Untrusted> = snapshot.work.iter().map(|work| work.session.clone()).collect();
        let mut said: HashMap<Untrusted, Said> = HashMap::new();
        for top in tops(snapshot).take(MOST_TREES) {
            let Some(path) = top.to_str().map(|top| trees.join(folder_name(top))) else { continue };
            let Ok(folder) = Folder::open(&path) else { continue };
            // What claimtop tells of a window it has from where it finds it now.
            let is_own = |name: &OsStr| is_ledger(name) && !is_seen(name);
            let is_asked = |name: &OsStr| is_own(name) && session_in(name, &sessions).is_some();
            for entry in folder.entries(is_asked).into_iter().flatten().take(MOST_LEDGERS) {
                let Some(session) = session_in(&entry.name, &sessions) else { continue };
                let Some((_, meta)) = folder.look_at(&entry.name) else { continue };
                let file = path.join(&entry.name);
                let read = match before.get(&file) {
                    Some((then, said)) if *then == meta => Arc::clone(said),
                    _ => Arc::new(Said::read(&file)),
                };
                said.entry(session.clone()).or_default().add(&read);
                self.known.insert(file, (meta, read));
            }
            self.folders.insert(path);
        }
        let mut marker = None;
        let repos = &snapshot.repos;
        for work in &mut snapshot.work {
            let Some(said) = said.get(&work.session) else { continue };
            let mut edits = said.more_edits(work);
            if edits.is_empty() && said.warnings.is_empty() {
                continue;
            }
            if !edits.is_empty() {
                let plain = snapshot.plain_folders.clone();
                let marker = marker.get_or_insert_with(|| {
                    let repos: Vec<Repo> = repos.clone();
                    Marker::new((repos, plain), (reading.now, reading.host.uid), &scope.places.home)
                });
                marker.mark(edits.iter_mut().map(|edit| (edit, Known::default())));
            }
            let work = Arc::make_mut(work);
            work.doing.edits.append(&mut edits);
            work.doing.edits.sort_by(|one, other| one.path.cmp(&other.path));
            let newest = said.warnings.iter().rev().take(MOST_WARNINGS);
            work.warnings = newest.rev().cloned().collect();
        }
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        Vec::new()
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        hints.folders.extend(self.folders.iter().cloned());
    }
}

/// Returns the places in which windows may work: each has its ledgers.
fn tops(snapshot: &Snapshot) -> impl Iterator<Item = PathBuf> {
    let trees = snapshot.repos.iter().flat_map(|repo| &repo.worktrees).map(|tree| tree.path.clone());
    trees.chain(snapshot.plain_folders.iter().map(|folder| Path::new(folder.raw()).to_path_buf()))
}

/// Returns the session whose ledger this is: its name begins the name of the file.
fn session_in<'a>(name: &OsStr, sessions: &'a BTreeSet<Untrusted>) -> Option<&'a Untrusted> {
    let name = name.to_str()?;
    let starts = name.match_indices('.').filter_map(|(at, _)| name.get(..at));
    starts.filter_map(|start| sessions.get(&Untrusted::from(start))).next_back()
}

impl Said {
    fn read(path: &Path) -> Self {
        let mut said = Self::default();
        for line in lines_of(path) {
            if let LedgerLine::Edited(Touched { path, at, .. }) = line {
                said.edit(&path, at);
            } else if let LedgerLine::Briefed(brief) = line {
                let Some(at) = brief.at else { continue };
                said.warn(at, brief.others, None, Warned::Briefed);
            } else if let LedgerLine::Noted(Met { path, others, at, .. }) = line {
                let others = others.into_iter().map(|(session, _)| session).collect();
                said.warn(at, others, Some(&path), Warned::Noted);
            } else if let LedgerLine::HeldUp(HeldUp { others, at, .. }) = line {
                said.warn(at, others, None, Warned::HeldUp);
            } else if let LedgerLine::Overrode(HeldUp { others, at, .. }) = line {
                said.warn(at, others, None, Warned::WentOn);
            }
        }
        said
    }

    fn edit(&mut self, path: &Untrusted, at: Timestamp) {
        let known = self.edits.entry(path.clone()).or_insert(at);
        *known = at.max(*known);
    }

    fn warn(&mut self, at: Timestamp, others: Vec<Untrusted>, path: Option<&Untrusted>, how: Warned) {
        let warning = |of| Warning { at, of, path: path.cloned(), how };
        self.warnings.extend(others.into_iter().map(warning));
    }

    fn add(&mut self, other: &Self) {
        other.edits.iter().for_each(|(path, at)| self.edit(path, *at));
        self.warnings.extend(other.warnings.iter().cloned());
    }

    /// Returns the edits that a session file does not tell.
    fn more_edits(&self, work: &Work) -> Vec<Edit> {
        let told: BTreeSet<&Untrusted> = work.doing.edits.iter().map(|edit| &edit.path).collect();
        let edit = |(path, at): (&Untrusted, &Timestamp)| Edit {
            path: path.clone(),
            at: Some(*at),
            by: None,
            also: Vec::new(),
            committed: Committed::Unknown,
        };
        self.edits.iter().filter(|(path, _)| !told.contains(path)).map(edit).collect()
    }
}
