//! Other systems, through notify.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::observe::watch::files::scope::{Interests, Scope, WatchRefusal, lock};
use crate::observe::watch::interest::{Change, Interest, matters};
use crate::observe::watch::notice::Hint;
use crate::observe::watch::notice::Notice;

/// Returns `None`: it is not determined here whether others may change a file system.
pub(crate) fn remote(_: &Path) -> Option<&'static str> {
    None
}

/// The system's watcher.
pub(crate) struct Watcher(RecommendedWatcher);

impl Watcher {
    /// Prepares to watch; the failure is text.
    pub(crate) fn new(interests: Interests, notice: Notice) -> Result<Self, String> {
        let shared = Arc::clone(&interests);
        let watcher = notify::recommended_watcher(move |event| forward(event, &lock(&shared), &notice));
        watcher.map(Self).map_err(|error| words(&error))
    }

    /// Watches one folder. A folder above others is not watched: notify would report everything that happens in it as
    /// well.
    pub(crate) fn watch(&mut self, folder: &Path, scope: Scope) -> Result<(), WatchRefusal> {
        if scope == Scope::Fate {
            return Ok(());
        }
        self.0.watch(folder, RecursiveMode::NonRecursive).map_err(|error| match &error.kind {
            ErrorKind::PathNotFound => WatchRefusal::Gone,
            ErrorKind::MaxFilesWatch
            | ErrorKind::Io(_)
            | ErrorKind::Generic(_)
            | ErrorKind::WatchNotFound
            | ErrorKind::InvalidConfig(_) => WatchRefusal::Refused(words(&error)),
        })
    }

    /// Returns no folder: notify does not report which watch has ended.
    pub(crate) fn ended(&mut self) -> HashSet<PathBuf> {
        HashSet::new()
    }

    /// Stops watching a folder.
    pub(crate) fn unwatch(&mut self, folder: &Path) {
        // It fails when the folder has gone, and the watch with it.
        let _ = self.0.unwatch(folder);
    }
}

/// Runs on the watching thread, for each event.
fn forward(event: notify::Result<Event>, interests: &BTreeMap<PathBuf, Interest>, notice: &Notice) {
    match event {
        // Every look reads everything, so nothing is lost with the events.
        Ok(event) if event.need_rescan() => notice.send(Hint::Files),
        Ok(event) if changes(&event).iter().any(|change| matters(change, interests)) => {
            notice.send(Hint::Files);
        }
        Ok(_) => {}
        Err(error) => notice.lost(format!("failed to watch files: {}", words(&error))),
    }
}

fn changes(event: &Event) -> Vec<Change<'_>> {
    let is_write = match event.kind {
        // Our own reading opens and closes files too.
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => return Vec::new(),
        EventKind::Modify(ModifyKind::Data(_)) => true,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => false,
    };
    let of = |path| {
        let path: &PathBuf = path;
        let entry = path.parent().zip(path.file_name());
        let entry = entry.map(|(folder, name)| Change::Entry { folder, name, is_write });
        std::iter::once(Change::Folder(path)).chain(entry)
    };
    event.paths.iter().flat_map(of).collect()
}

/// Returns an error's cause in lower case.
fn words(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => "the limit of watches is reached".to_owned(),
        ErrorKind::Io(cause) => {
            cause.to_string().split(" (os error").next().unwrap_or_default().to_lowercase()
        }
        ErrorKind::Generic(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => error.to_string().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, RemoveKind};

    use super::*;

    #[track_caller]
    fn check(kind: EventKind, path: &str, expected: bool) {
        let interest = Interest { files: true, ..Interest::default() };
        let interests = BTreeMap::from([(PathBuf::from("/tmp"), interest)]);
        let event = Event::new(kind).add_path(path.into());
        assert_eq!(
            changes(&event).iter().any(|change| matters(change, &interests)),
            expected,
            "{kind:?} {path}"
        );
    }

    #[test]
    fn reading_is_no_change() {
        check(EventKind::Access(AccessKind::Open(AccessMode::Any)), "/tmp/claude_session_alpha", false);
        check(EventKind::Access(AccessKind::Close(AccessMode::Read)), "/tmp/claude_session_alpha", false);
        check(EventKind::Access(AccessKind::Close(AccessMode::Write)), "/tmp/claude_session_alpha", true);
        check(EventKind::Modify(ModifyKind::Data(DataChange::Any)), "/tmp/claude_session_alpha", true);
        check(EventKind::Create(CreateKind::File), "/tmp/other", false);
        check(EventKind::Remove(RemoveKind::Folder), "/tmp", true);
    }
}
