//! Reads the notes that `claimtop bind` left: which process runs which session, which of them waits, and other facts
//! that an agent reported.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::snapshot::note::{CONTEXT_END, ContextSize, WAIT_END, wait_file_start};
use crate::core::model::{
    BoundSession, Content, FileMeta, NotedWait, Notes, Snapshot, SourceHealth, SourceState, Untrusted,
};
use crate::format::Reading;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::fence::Fence;
use crate::source::os::open::error::OpenError;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::image::image;
use crate::source::os::open::listing::Entry;
use crate::source::os::open::medium::medium_at;

/// The most notes that are read, in the order of their names: some 400 bytes each, and years of
/// work.
pub(crate) const MAX_NOTES: usize = 20_000;

/// Reads the notes again and again; one that has not changed is not parsed again.
#[derive(Default)]
pub(crate) struct Reader {
    kept: HashMap<OsString, NoteCache>,
    notes: Notes,
    health: Option<SourceHealth>,
}

struct NoteCache {
    meta: FileMeta,
    note: Note,
}

/// The content of a file.
#[derive(Clone)]
enum Note {
    Runs(Arc<BoundSession>),
    Waits(Arc<NotedWait>),
    /// How much fits into a session's context.
    Context(ContextSize),
    /// Nothing that makes sense.
    Nothing,
}

impl Note {
    fn parse(name: &OsStr, bytes: &[u8]) -> Self {
        let runs = || BoundSession::parse(bytes).filter(|note| *name == *note.file_name());
        let is_its =
            |wait: &NotedWait| name.to_str().is_some_and(|name| name.starts_with(&wait_file_start(&wait.by)));
        let waits = || NotedWait::parse(bytes).filter(is_its);
        let context = || ContextSize::parse(bytes).filter(|note| *name == *note.file_name());
        let note = runs().map(|note| Self::Runs(Arc::new(note)));
        let note = note.or_else(|| Some(Self::Waits(Arc::new(waits()?))));
        note.or_else(|| context().map(Self::Context)).unwrap_or(Self::Nothing)
    }
}

impl Source for Reader {
    fn look(&mut self, scope: &Scope, _reading: &Reading<'_>) {
        let (notes, health) = self.read(&scope.places.bindings, &scope.fence);
        (self.notes, self.health) = (notes, Some(health));
    }

    fn pids(&self) -> BTreeSet<u32> {
        let waits = self.notes.waits.iter().map(|wait| wait.by.pid);
        self.notes.notes.iter().map(|note| note.pid).chain(waits).collect()
    }

    fn add_to(&mut self, snapshot: &mut Snapshot, _scope: &Scope, _reading: &Reading<'_>) {
        snapshot.bound = std::mem::take(&mut self.notes);
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        self.health.iter().cloned().collect()
    }

    fn hints(&self, scope: &Scope, hints: &mut Hints) {
        hints.folders.insert(scope.places.bindings.clone());
    }
}

impl Reader {
    /// Reads every note in a folder, and returns its health.
    fn read(&mut self, folder: &Path, fence: &Fence) -> (Notes, SourceHealth) {
        let before = std::mem::take(&mut self.kept);
        if !fence.reaches(folder) {
            let why = format!("{} is outside the folders that may be read", Untrusted::from_path(folder));
            return failed(why);
        }
        match Folder::open(folder).and_then(|folder| self.read_all(&folder, before)) {
            Ok(notes) => {
                let state = if notes.is_whole() { SourceState::Ok } else { SourceState::Partial };
                let health = health(&notes, state);
                (notes, health)
            }
            Err(error) if error.is_absence() => {
                (Notes::default(), health(&Notes::default(), SourceState::Absent))
            }
            Err(error) => failed(error.to_string()),
        }
    }

    fn read_all(
        &mut self,
        folder: &Folder,
        mut before: HashMap<OsString, NoteCache>,
    ) -> Result<Notes, OpenError> {
        let mut entries =
            folder.entries(|name| session_of(name).is_some() || is_wait(name) || is_context(name))?;
        let mut notes = Notes { medium: medium_at(folder.path()), ..Notes::default() };
        if entries.len() > MAX_NOTES {
            notes.partial = Some(format!("more than {MAX_NOTES} notes; the others were not read"));
            entries.truncate(MAX_NOTES);
        }
        for entry in entries {
            let kept = before.remove(&entry.name);
            let Some(read) = read_one(folder, &entry, kept) else { continue };
            match &read.note {
                Note::Runs(note) => notes.notes.push(Arc::clone(note)),
                Note::Waits(wait) => notes.waits.push(Arc::clone(wait)),
                Note::Context(note) => drop(notes.contexts.insert(note.session_id.clone(), note.tokens)),
                Note::Nothing => notes.unreadable.extend(session_of(&entry.name)),
            }
            self.kept.insert(entry.name, read);
        }
        Ok(notes)
    }
}

/// Reads one note; `None` when it is gone.
fn read_one(folder: &Folder, entry: &Entry, kept: Option<NoteCache>) -> Option<NoteCache> {
    let (_, meta) = folder.look_at(&entry.name)?;
    // A note is only ever replaced whole, by a file with another inode.
    if let Some(kept) = kept.filter(|kept| kept.meta == meta && !matches!(kept.note, Note::Nothing)) {
        return Some(kept);
    }
    let file = image(folder, entry)?;
    let note = match &file.content {
        Content::Bytes(bytes) => Note::parse(&entry.name, bytes),
        Content::Refused(_) | Content::Failed(_) => Note::Nothing,
    };
    Some(NoteCache { meta: file.meta.unwrap_or(meta), note })
}

/// Returns the session in the name of a note of a running process, `{session}.{pid}.json`.
fn session_of(name: &OsStr) -> Option<Untrusted> {
    named(name, ".json").map(Untrusted::from)
}

/// Returns whether this is the name of a note of a wait, `{session}.{pid}.{call}.wait`, or without the call.
fn is_wait(name: &OsStr) -> bool {
    named(name, ".wait").is_some()
        || Path::new(name).extension().is_some_and(|end| end == WAIT_END)
            && Path::new(name).file_stem().is_some_and(|rest| of_call(rest).is_some())
}

/// Returns the session in the name of a note of a wait for a call, without its end.
fn of_call(name: &OsStr) -> Option<&str> {
    let (start, mark) = name.to_str()?.rsplit_once('.')?;
    named(OsStr::new(start), "").filter(|_| !mark.is_empty())
}

/// Returns whether this is the name of a note of a context's size, `{session}.context`.
pub(crate) fn is_context(name: &OsStr) -> bool {
    name.to_str().and_then(|name| name.strip_suffix(CONTEXT_END)).is_some_and(is_valid_id)
}

fn named<'a>(name: &'a OsStr, end: &str) -> Option<&'a str> {
    let (session, pid) = name.to_str()?.strip_suffix(end)?.split_once('.')?;
    (is_valid_id(session) && pid.parse::<u32>().is_ok()).then_some(session)
}

fn failed(why: String) -> (Notes, SourceHealth) {
    let notes = Notes { partial: Some(why), ..Notes::default() };
    let health = health(&notes, SourceState::Failed);
    (notes, health)
}

fn health(notes: &Notes, state: SourceState) -> SourceHealth {
    let detail = match (state, &notes.partial) {
        (SourceState::Absent, _) => "no folder; see `claimtop setup`".to_owned(),
        (_, Some(why)) => why.clone(),
        (_, None) => format!("{} read, {} unusable", notes.notes.len(), notes.unreadable.len()),
    };
    SourceHealth { id: "bindings".to_owned(), state, detail: detail.into() }
}
