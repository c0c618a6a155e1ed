//! Which changes in a watched folder matter: without a choice, every temporary file of every
//! program would be a hint.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};

use crate::format;

/// Names in a git common directory that tell of branches and working trees.
const GIT: [&str; 3] = ["HEAD", "packed-refs", "worktrees"];

/// What matters in one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interest {
    /// Whether the files of the formats do.
    pub(super) files: bool,
    /// Whether every folder in it does.
    pub(super) subfolders: bool,
    /// What else does.
    pub(super) names: BTreeSet<OsString>,
}

impl Interest {
    /// Adds what matters to another.
    pub(super) fn merge(&mut self, other: Self) {
        self.files |= other.files;
        self.subfolders |= other.subfolders;
        self.names.extend(other.names);
    }

    fn includes(&self, name: &OsStr, is_file_write: bool) -> bool {
        self.names.contains(name)
            || (self.subfolders && !is_file_write)
            || (self.files && name.to_str().is_some_and(is_known))
    }
}

/// What matters, by folder. A folder that does not exist is waited for in the nearest one above
/// it that does.
pub(super) fn wanted(folders: &[PathBuf]) -> BTreeMap<PathBuf, Interest> {
    let mut all: BTreeMap<PathBuf, Interest> = BTreeMap::new();
    for folder in folders {
        let (folder, own) = match folder.file_name() {
            Some(name) if name == "*" => {
                let parent = folder.parent().unwrap_or(folder);
                (parent, Interest { subfolders: true, ..Interest::default() })
            }
            _ => (folder.as_path(), Interest { files: true, ..Interest::default() }),
        };
        if let Some((at, interest)) = standing(folder, own) {
            all.entry(at).or_default().merge(interest);
        }
    }
    all
}

fn standing(folder: &Path, own: Interest) -> Option<(PathBuf, Interest)> {
    if folder.is_dir() {
        return Some((folder.to_path_buf(), own));
    }
    let above = folder.ancestors().skip(1).find(|above| above.is_dir())?;
    let next = folder.strip_prefix(above).ok()?.components().next()?;
    let names = BTreeSet::from([next.as_os_str().to_owned()]);
    Some((above.to_path_buf(), Interest { names, ..Interest::default() }))
}

/// Decides whether an event means another look.
pub(super) fn matters(event: &Event, interests: &BTreeMap<PathBuf, Interest>) -> bool {
    let is_file_write = match event.kind {
        // Our own reading opens and closes files too.
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => return false,
        EventKind::Modify(notify::event::ModifyKind::Data(_)) => true,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => false,
    };
    event.paths.iter().any(|path| {
        // A watched folder itself has gone, moved or changed its rights.
        interests.contains_key(path)
            || path.parent().zip(path.file_name()).is_some_and(|(folder, name)| {
                interests.get(folder).is_some_and(|interest| interest.includes(name, is_file_write))
            })
    })
}

fn is_known(name: &str) -> bool {
    GIT.contains(&name) || format::places().any(|place| (place.recognise)(name).is_some())
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, ModifyKind};

    use super::*;

    #[track_caller]
    fn check(kind: EventKind, path: &str, expected: bool) {
        let mut interests = BTreeMap::from([
            (PathBuf::from("/tmp"), Interest { files: true, ..Interest::default() }),
            (PathBuf::from("/home/.maia/checkpoints"), Interest { subfolders: true, ..Interest::default() }),
        ]);
        let late = Interest { names: BTreeSet::from(["claude_spawn_markers".into()]), ..Interest::default() };
        interests.entry("/tmp".into()).or_default().merge(late);
        let event = Event::new(kind).add_path(path.into());
        assert_eq!(matters(&event, &interests), expected, "{kind:?} {path}");
    }

    #[test]
    fn only_what_matters_is_a_hint() {
        let write = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let folder = EventKind::Create(CreateKind::Folder);
        check(write, "/tmp/claude_session_alpha", true);
        check(write, "/tmp/rustc-1.tmp", false);
        check(EventKind::Access(AccessKind::Open(AccessMode::Any)), "/tmp/claude_session_alpha", false);
        check(EventKind::Access(AccessKind::Close(AccessMode::Read)), "/tmp/claude_session_alpha", false);
        check(folder, "/tmp/claude_spawn_markers", true);
        check(folder, "/tmp/.tmpXYZ", false);
        check(folder, "/home/.maia/checkpoints/context_77", true);
        check(EventKind::Modify(ModifyKind::Data(DataChange::Any)), "/home/.maia/checkpoints/log", false);
        check(EventKind::Remove(notify::event::RemoveKind::Folder), "/tmp", true);
    }
}
