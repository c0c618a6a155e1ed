//! Reads what git has reported of its commands: the files of its own events, in a folder that a person has made for
//! them, and the lines that an open claimtop has made of those.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use sha1::{Digest, Sha1};

use crate::core::model::snapshot::work::git_command::merged;
use crate::core::model::text::hex;
use crate::core::model::{GitCommand, Host, Snapshot, SourceHealth, SourceState, Untrusted};
use crate::format::Reading;
use crate::format::git::events::{self, EventFile, EventName};
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::host;
use crate::source::os::open::error::OpenError;
use crate::source::os::open::folder::{Folder, look_at};
use crate::source::os::open::plain::open_plain;
use crate::source::own::lines;
use crate::source::own::lines::{OTHERS_WRITE, OwnLines};
use crate::source::places::{GIT_COMMANDS, git_commands_in, git_events_in};

/// For how long a command is known: a day.
pub(crate) const KNOWN_FOR: SignedDuration = SignedDuration::from_hours(24);
/// The most files of events that are read at once.
pub(crate) const MOST_FILES: usize = 2_048;
/// How much of a file of events is read from its beginning and, if it is longer, from its end, in bytes.
const MOST_BEGIN: u64 = 256 << 10;
const MOST_END: u64 = 16 << 10;

/// The name of the health badge.
const ID: &str = "git-events";

/// Opens the folder of git's events; `None` if there is none.
///
/// # Errors
/// It cannot be read, or others can change it.
pub(crate) fn open(state: &Path) -> Result<Option<Folder>, String> {
    let path = git_events_in(state);
    let folder = match Folder::open(&path) {
        Ok(folder) => folder,
        Err(OpenError::Absent { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let owner = look_at(&path).map(|meta| meta.ownership);
    let is_own = owner.is_some_and(|owner| owner.uid == host::uid() && owner.mode & OTHERS_WRITE == 0);
    let path = Untrusted::from_path(&path);
    if is_own {
        Ok(Some(folder))
    } else {
        Err(format!("other users can write to {path}: run chmod 700 on it"))
    }
}

/// Returns the names of the files in the folder that git on this machine has written.
pub(crate) fn names(folder: &Folder) -> Vec<String> {
    let entries = folder.entries(|name| name.to_str().is_some_and(is_of_here)).unwrap_or_default();
    entries.into_iter().take(MOST_FILES).filter_map(|entry| entry.name.into_string().ok()).collect()
}

/// Returns whether git on this machine would give a file this name: it has a digest of the host's name.
pub(crate) fn is_of_here(name: &str) -> bool {
    static OWN: LazyLock<String> =
        LazyLock::new(|| hex(Sha1::digest(host::name().as_bytes()).get(..4).unwrap_or_default()));
    EventName::parse(name).is_some_and(|name| name.host == *OWN)
}

/// Reads a file of events; `None` if it has gone, or is not this user's.
pub(crate) fn read(folder: &Folder, name: &str) -> Option<EventFile> {
    let (fd, meta) = open_plain(&folder.path().join(OsStr::new(name))).ok()?;
    if meta.ownership.uid != host::uid() {
        return None;
    }
    let mut file = File::from(fd);
    let mut bytes = Vec::new();
    file.by_ref().take(MOST_BEGIN).read_to_end(&mut bytes).ok()?;
    if let Some(from) = meta.size.checked_sub(MOST_END).filter(|from| *from > MOST_BEGIN) {
        // Both parts end in the middle of a line.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(whole);
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut end = Vec::new();
        file.take(MOST_END).read_to_end(&mut end).ok()?;
        let begin = end.iter().position(|byte| *byte == b'\n').map_or(end.len(), |at| at + 1);
        bytes.extend(end.into_iter().skip(begin));
    }
    Some(events::read(name, &bytes))
}

/// Returns the commands in files that no open claimtop has read yet, and how many lines make no sense.
fn waiting(folder: &Folder) -> (Vec<GitCommand>, usize) {
    let files = names(folder).into_iter().filter_map(|name| read(folder, &name));
    files.fold((Vec::new(), 0), |(mut all, broken), file| {
        all.extend(file.command);
        (all, broken + file.broken)
    })
}

/// Returns all commands of the last day in any working tree, the oldest first.
pub(crate) fn known(state: &Path, host: &Host, now: Timestamp) -> Vec<GitCommand> {
    let kept = lines::kept(&git_commands_in(state), host).unwrap_or_default();
    let waiting = open(state).ok().flatten().map(|folder| waiting(&folder).0);
    recent(merged(kept, waiting.unwrap_or_default()), now)
}

fn recent(mut all: Vec<GitCommand>, now: Timestamp) -> Vec<GitCommand> {
    all.retain(|command| now.duration_since(command.at) <= KNOWN_FOR);
    all
}

/// Reads them look by look.
#[derive(Default)]
pub(crate) struct Reader {
    file: OwnLines,
    kept: Vec<GitCommand>,
    health: Option<SourceHealth>,
    state: Option<PathBuf>,
}

impl Source for Reader {
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        self.state = scope.places.state().filter(|state| scope.fence.reaches(&git_commands_in(state)));
        let Some(state) = &self.state else { return };
        if let Some(kept) = self.file.changed(&git_commands_in(state), reading.host) {
            self.kept = merged(kept, Vec::new());
        }
        let opened = open(state);
        let (new, broken) = opened.as_ref().ok().and_then(Option::as_ref).map(waiting).unwrap_or_default();
        self.health = health(opened.map(|folder| folder.is_some()), broken);
        let mut all = recent(merged(self.kept.clone(), new), reading.now);
        let trees = || snapshot.repos.iter().flat_map(|repo| &repo.worktrees);
        all.retain(|command| trees().any(|tree| tree.path == Path::new(command.tree.raw())));
        snapshot.git_commands = all;
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        self.health.iter().cloned().collect()
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        if let Some(state) = &self.state {
            hints.folders.insert(state.clone());
            hints.names.entry(state.clone()).or_default().insert(GIT_COMMANDS.to_owned());
        }
    }
}

/// Returns the badge of the folder, if there is one.
fn health(opened: Result<bool, String>, broken: usize) -> Option<SourceHealth> {
    let (state, detail) = match opened {
        Ok(false) => return None,
        Ok(true) if broken == 0 => (SourceState::Ok, "git reports its commands".to_owned()),
        Ok(true) => (SourceState::Partial, format!("{broken} lines of git's events make no sense")),
        Err(why) => (SourceState::Failed, why),
    };
    Some(SourceHealth { id: ID.to_owned(), state, detail: detail.into() })
}
