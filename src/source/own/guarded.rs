//! Lines that guarded windows wrote about themselves: edits that no session file reports, and warnings of the guard.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::snapshot::ledger::{Encounter, HeldUp, LedgerLine, Loss, folder_name, is_seen};
use crate::core::model::{
    CommitState, Edit, EditFate, FileMeta, Snapshot, SourceHealth, UndoneBy, Untrusted, Warning, WarningSort,
    Work,
};
use crate::format::Reading;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::open::folder::Folder;
use crate::source::own::ledger::{Edits, Open, Parts, Stories, is_ledger, parts_of};
use crate::source::repos::objects::Short;
use crate::source::work::committed::marker::Marker;
use crate::source::work::committed::{CommitCache, EditFacts};

/// The most working trees whose ledgers are read, and the most ledgers of one working tree.
const MOST_TREES: usize = 64;
const MOST_LEDGERS: usize = 256;
/// The most warnings of one session that are reported, the newest.
const MOST_WARNINGS: usize = 32;

/// The most files that are checked for whether they hold again what they held.
const MOST_EDITS: usize = 512;
/// How much later than its hook a session file may report an edit: 2 s.
const JUST_AFTER: SignedDuration = SignedDuration::from_secs(2);

/// Reads the ledgers of the sessions that are known.
#[derive(Default)]
pub(crate) struct Reader {
    known: HashMap<PathBuf, (FileMeta, Arc<SessionLines>)>,
    folders: BTreeSet<PathBuf>,
    kept: CommitCache,
}

/// The query of one look.
struct LookQuery {
    marker: Marker,
    /// The present content of files that may hold again what they held before they were settled.
    holds: HashMap<Untrusted, Short>,
}

/// The lines that a session wrote.
#[derive(Clone, Default)]
struct SessionLines {
    edits: Edits,
    stories: Stories,
    warnings: BTreeSet<Warning>,
    /// The edits of others that lines of this one have undone.
    losses: Vec<UndoneEdit>,
}

/// An edit that a line of another session has undone.
#[derive(Clone)]
struct UndoneEdit {
    of: Untrusted,
    path: Untrusted,
    edited: Timestamp,
    by: UndoneBy,
}

impl Source for Reader {
    fn look(&mut self, _scope: &Scope, _reading: &Reading<'_>) {}

    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        self.folders.clear();
        let before = std::mem::take(&mut self.known);
        let Some(trees) = scope.places.ledgers() else { return };
        let sessions: BTreeSet<Untrusted> = snapshot.work.iter().map(|work| work.session.clone()).collect();
        let mut lines: HashMap<Untrusted, SessionLines> = HashMap::new();
        for top in tops(snapshot).take(MOST_TREES) {
            let Some(path) = top.to_str().map(|top| trees.join(folder_name(top))) else { continue };
            let Ok(folder) = Folder::open(&path) else { continue };
            // claimtop's own ledger of a window repeats facts that this look reads itself.
            let is_own = |name: &OsStr| is_ledger(name) && !is_seen(name);
            let is_asked = |name: &OsStr| is_own(name) && session_in(name, &sessions).is_some();
            for entry in folder.entries(is_asked).into_iter().flatten().take(MOST_LEDGERS) {
                let Some(session) = session_in(&entry.name, &sessions) else { continue };
                let Some((_, meta)) = folder.look_at(&entry.name) else { continue };
                let file = path.join(&entry.name);
                let read = match before.get(&file) {
                    Some((then, lines)) if *then == meta => Arc::clone(lines),
                    _ => Arc::new(SessionLines::read(&file, session)),
                };
                lines.entry(session.clone()).or_default().add(&read);
                self.known.insert(file, (meta, read));
            }
            self.folders.insert(path);
        }
        let mut stories = Stories::default();
        self.known.values().for_each(|(_, lines)| stories.add(&lines.stories));
        self.known.values().for_each(|(_, lines)| stories.add_held(&lines.edits));
        let mut asked: Option<LookQuery> = None;
        let (now, uid, doubt) = (reading.now, reading.host.uid, snapshot.host.clock_doubt);
        for work in &mut snapshot.work {
            let Some(lines) = lines.get(&work.session).filter(|lines| !lines.is_empty()) else { continue };
            let asked = asked.get_or_insert_with(|| {
                let folders = (snapshot.repos.clone(), snapshot.plain_folders.clone());
                let kept = std::mem::take(&mut self.kept);
                let mut marker =
                    Marker::new(folders, (now, uid), &scope.places.home).remembering(kept, doubt);
                let edited = self.known.values().flat_map(|(_, lines)| lines.edits.keys());
                let holds = marker.held_since(&stories.may_return(edited, (now, MOST_EDITS)));
                LookQuery { marker, holds }
            });
            let mut marked = lines.marked(work, asked, (&stories, now));
            if marked.is_empty() && lines.warnings.is_empty() {
                continue;
            }
            let work = Arc::make_mut(work);
            for edit in &mut work.doing.edits {
                if let Some(marked) = marked.remove(&edit.path) {
                    *edit = marked;
                }
            }
            work.doing.edits.extend(marked.into_values());
            work.doing.edits.sort_by(|one, other| one.path.cmp(&other.path));
            let newest = lines.warnings.iter().rev().take(MOST_WARNINGS);
            work.warnings = newest.rev().cloned().collect();
        }
        self.kept = asked.map(|asked| asked.marker.into_kept()).unwrap_or_default();
        let losses: Vec<_> = lines.values().flat_map(|lines| &lines.losses).collect();
        for work in snapshot.work.iter_mut().filter(|_| !losses.is_empty()) {
            add_doers(work, &losses);
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

/// Adds to the edits of a session that are gone which line of another one has undone them, by the hooks around it.
fn add_doers(work: &mut Arc<Work>, losses: &[&UndoneEdit]) {
    let doer = |edit: &Edit| {
        let is_its = |undone: &&&UndoneEdit| {
            let is_older = edit.at.is_some_and(|at| at.duration_since(undone.edited) > JUST_AFTER);
            undone.of == work.session && undone.path == edit.path && !is_older
        };
        losses.iter().filter(is_its).map(|undone| &undone.by).max_by_key(|by| by.at).cloned()
    };
    let edits = work.doing.edits.iter().enumerate().filter(|(_, edit)| edit.is_gone());
    let found: Vec<(usize, UndoneBy)> = edits.filter_map(|(at, edit)| Some((at, doer(edit)?))).collect();
    if found.is_empty() {
        return;
    }
    let edits = &mut Arc::make_mut(work).doing.edits;
    for (at, by) in found {
        if let Some(edit) = edits.get_mut(at) {
            edit.fate.undone_by = Some(by);
        }
    }
}

/// Returns the session whose ledger this is: its name begins the name of the file.
fn session_in<'a>(name: &OsStr, sessions: &'a BTreeSet<Untrusted>) -> Option<&'a Untrusted> {
    let name = name.to_str()?;
    let starts = name.match_indices('.').filter_map(|(at, _)| name.get(..at));
    starts.filter_map(|start| sessions.get(&Untrusted::from(start))).next_back()
}

impl SessionLines {
    fn read(path: &Path, session: &Untrusted) -> Self {
        let mut said = Self::default();
        let Parts { edits, stories, lines } = parts_of(path);
        (said.edits, said.stories) = (edits, stories);
        for line in lines {
            if let LedgerLine::Briefed(brief) = line {
                let Some(at) = brief.at else { continue };
                said.warn(at, brief.others, None, WarningSort::Briefed);
            } else if let LedgerLine::Noted(Encounter { path, others, at, .. }) = line {
                let others = others.into_iter().map(|(session, _)| session).collect();
                said.warn(at, others, Some(&path), WarningSort::Noted);
            } else if let LedgerLine::HeldUp(HeldUp { others, at, .. }) = line {
                said.warn(at, others, None, WarningSort::HeldUp);
            } else if let LedgerLine::Lost(loss) = line {
                let Loss { path, at, of, edited, line: Some(line), moved_to: None, .. } = *loss else {
                    continue;
                };
                let by = UndoneBy { session: session.clone(), line, at };
                said.losses.push(UndoneEdit { of, path, edited, by });
            } else if let LedgerLine::Overrode(HeldUp { others, at, .. }) = line {
                said.warn(at, others, None, WarningSort::WentOn);
            }
        }
        said
    }

    fn warn(&mut self, at: Timestamp, others: Vec<Untrusted>, path: Option<&Untrusted>, how: WarningSort) {
        let warning = |of| Warning { at, of, path: path.cloned(), how };
        self.warnings.extend(others.into_iter().map(warning));
    }

    fn add(&mut self, other: &Self) {
        for (path, edits) in &other.edits {
            self.edits.entry(path.clone()).or_default().extend(edits);
        }
        self.warnings.extend(other.warnings.iter().cloned());
        self.losses.extend(other.losses.iter().cloned());
    }

    fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.warnings.is_empty()
    }

    /// Returns, each marked as a guard would, the edits that the session file does not report, and those whose commit
    /// state differs by what is written here.
    fn marked(
        &self,
        work: &Work,
        asked: &mut LookQuery,
        (stories, now): (&Stories, Timestamp),
    ) -> HashMap<Untrusted, Edit> {
        let told: HashMap<&Untrusted, &Edit> =
            work.doing.edits.iter().map(|edit| (&edit.path, edit)).collect();
        let mut found: Vec<(Edit, EditFacts, bool)> = Vec::new();
        for (path, written) in &self.edits {
            let Some(last) = written.iter().map(|edit| edit.at).max() else { continue };
            let told = told.get(path).copied();
            // No hook has seen what the session file reports later.
            let is_later = |edit: &Edit| edit.at.is_some_and(|at| at.duration_since(last) > JUST_AFTER);
            if told.is_some_and(|edit| edit.fate.committed == CommitState::Yes || is_later(edit)) {
                continue;
            }
            let open = stories.open(path, written, (now, &asked.holds));
            // One that has ended is judged by what it left.
            let ended = || written.iter().copied().max_by_key(|edit| edit.at).map(Open::from);
            let at = open.map_or(last, |open| open.edit.at);
            let known = open.or_else(ended).map(|open| open.known()).unwrap_or_default();
            found.push((Edit::new(path.clone(), Some(at)), known, open.is_some()));
        }
        asked.marker.mark(found.iter_mut().map(|(edit, known, _)| (edit, *known)));
        let marked = found.into_iter().filter_map(|(edit, _, is_open)| {
            let mut fate = edit.fate.clone();
            // It has ended, whichever process has written the file since.
            if !is_open && edit.is_open() {
                fate = EditFate::default();
            }
            let marked = match told.get(&edit.path) {
                Some(told) => Edit { fate, ..(*told).clone() },
                None => Edit { fate, ..edit },
            };
            let is_news = told.get(&marked.path).is_none_or(|told| told.fate != marked.fate);
            is_news.then(|| (marked.path.clone(), marked))
        });
        marked.collect()
    }
}
