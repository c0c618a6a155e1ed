//! Reads claimtop's own journal: the actions that did not end, or ended halfway.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::Errno;

use crate::core::history::journal::{Entry, History};
use crate::core::history::movement::{Movement, ParkLocation};
use crate::core::model::{
    FileMeta, FilePath, Halfway, Snapshot, SourceHealth, SourceState, UnfinishedAction,
};
use crate::format::Reading;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::fence::Fence;
use crate::source::os::locks::Locks;
use crate::source::os::open::error::errno_text;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::plain::open_plain;
use crate::source::own::lines::OTHERS_WRITE;
use crate::source::places::{JOURNAL, PARKED};

/// The name of the health badge for an unreadable journal.
const ID: &str = "journal";

/// The name of the lock in the state folder, which a process holds while it acts.
const LOCK: &str = "lock";

/// The most bytes of a journal that are read, the same as for an action.
const MAX_SIZE: u64 = 128 << 20;

/// Keeps the entries that may be unfinished, for as long as the journal stays as it was read.
#[derive(Default)]
pub(crate) struct Reader {
    meta: Option<FileMeta>,
    /// The entries that did not end, or ended without being done.
    entries: Vec<Entry>,
    state: Option<PathBuf>,
    trouble: Option<Errno>,
}

impl Source for Reader {
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        self.state = scope.places.state().filter(|state| scope.fence.reaches(&state.join(JOURNAL)));
        let Some(state) = self.state.clone() else { return };
        self.read(&state, reading.host.uid);
        let at_work = self.entries.iter().any(Entry::is_open).then(|| locker_of(&state)).flatten();
        if at_work.is_none() {
            // A process that has released the lock meanwhile has finished its open action.
            self.read(&state, reading.host.uid);
        }
        let park = Park { state: &state, fence: &scope.fence };
        let unfinished = self.entries.iter().filter_map(|entry| unfinished(entry, at_work, &park));
        snapshot.unfinished.extend(unfinished);
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        let health = |errno| {
            let detail = format!("failed to read the journal: {}", errno_text(errno));
            SourceHealth { id: ID.to_owned(), state: SourceState::Failed, detail: detail.into() }
        };
        self.trouble.map(health).into_iter().collect()
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        if let Some(state) = &self.state {
            hints.folders.insert(state.clone());
            hints.names.entry(state.clone()).or_default().insert(JOURNAL.to_owned());
        }
    }
}

impl Reader {
    /// Reads the journal if it has changed.
    fn read(&mut self, state: &Path, uid: u32) {
        let opened = open_plain(&state.join(JOURNAL));
        let meta = opened.as_ref().ok().map(|(_, meta)| *meta);
        if meta.is_some() && self.meta == meta {
            return;
        }
        (self.meta, self.entries, self.trouble) = (meta, Vec::new(), None);
        match opened.and_then(|(fd, meta)| text(File::from(fd), &meta, uid)) {
            Ok(text) => self.entries = candidates(History::read(&text)),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(errno) => self.trouble = Some(errno),
        }
    }
}

/// Reads a journal; nothing if it belongs to another user.
///
/// # Errors
/// Others can write it (`EPERM`), it is far larger than it can be (`EFBIG`), or the system refuses.
fn text(file: File, meta: &FileMeta, uid: u32) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    if meta.ownership.uid != uid {
        return Ok(bytes);
    }
    if meta.ownership.mode & OTHERS_WRITE != 0 {
        return Err(Errno::PERM);
    }
    let read = file.take(MAX_SIZE + 1).read_to_end(&mut bytes);
    let read = read.map_err(|error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))?;
    if read as u64 > MAX_SIZE { Err(Errno::FBIG) } else { Ok(bytes) }
}

/// Returns the entries that may be unfinished; of two with one number only the newer.
fn candidates(history: History) -> Vec<Entry> {
    let may_be = |entry: &&Entry| {
        let is_stuck = entry.is_stuck() && entry.can_be_undone();
        let is_newest = || history.entry(entry.number).is_some_and(|newest| std::ptr::eq(newest, *entry));
        (entry.is_open() || is_stuck || entry.came_to_nothing()) && is_newest()
    };
    history.entries.iter().filter(may_be).cloned().collect()
}

/// Returns the PID that holds the lock of the state folder; 0 if it cannot be seen.
fn locker_of(state: &Path) -> Option<u32> {
    let folder = Folder::open(state).ok()?;
    let (_, meta) = folder.look_at(OsStr::new(LOCK))?;
    Locks::read().held_by(OsStr::new(LOCK), &meta)
}

/// The folder of parked files.
struct Park<'a> {
    state: &'a Path,
    fence: &'a Fence,
}

impl Park<'_> {
    /// Returns whether something is parked under a name, or its folder cannot be reached.
    fn may_have(&self, parked: &ParkLocation) -> bool {
        let is_away = |folder: &PathBuf| !self.lies(folder);
        self.has(parked) || parked.folder.as_ref().is_some_and(is_away)
    }

    /// Returns whether something is parked under a name.
    fn has(&self, parked: &ParkLocation) -> bool {
        let is_plain = Path::new(&parked.name).file_name() == Some(OsStr::new(&parked.name));
        let folder = parked.folder.clone().unwrap_or_else(|| self.state.join(PARKED));
        is_plain && self.lies(&folder.join(&parked.name))
    }

    /// Returns whether anything lies at a path.
    fn lies(&self, path: &Path) -> bool {
        self.fence.reaches(path) && statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Returns the place of a parked file, if nothing is there.
    fn missing(&self, movement: &Movement) -> Option<FilePath> {
        let (Movement::Take { from: path, parked, .. } | Movement::Exchange { path, parked, .. }) = movement
        else {
            return None;
        };
        let is_known = self.fence.reaches(path);
        (is_known && self.has(parked) && !self.lies(path)).then(|| path.clone().into())
    }
}

fn unfinished(entry: &Entry, at_work: Option<u32>, park: &Park<'_>) -> Option<UnfinishedAction> {
    let movements = &entry.intent.movements;
    let parks = || movements.iter().filter_map(Movement::parks).map(|(parked, _)| parked);
    let (number, end) = if entry.is_open() {
        (entry.number, at_work.map_or(Halfway::CutOff, Halfway::AtWork))
    } else if entry.is_stuck() {
        let mut parked = movements.iter().filter_map(Movement::parked);
        (entry.brought_back_by(), parked.any(|parked| park.may_have(parked)).then_some(Halfway::Stuck)?)
    } else {
        (entry.number, parks().any(|parked| park.has(&parked)).then_some(Halfway::LeftParked)?)
    };
    Some(UnfinishedAction {
        entry: number,
        action: entry.intent.action,
        title: entry.intent.title.as_str().into(),
        began_at: entry.at,
        end,
        missing: movements.iter().filter_map(|movement| park.missing(movement)).collect(),
    })
}
