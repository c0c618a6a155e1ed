//! Which changes in a watched folder matter: without a choice, every temporary file of every
//! program would be a hint.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::core::model::snapshot::own::fits;
use crate::format;
use crate::format::git;
use crate::source::places::names::Names;

/// Names in a git common directory that change with branches and working trees.
const GIT: [&str; 3] = ["HEAD", "packed-refs", "worktrees"];

/// The changes that matter in one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interest {
    /// Whether the files of the formats matter.
    pub(crate) files: bool,
    /// Whether every folder in it matters.
    pub(crate) subfolders: bool,
    /// Other names that matter.
    pub(crate) names: BTreeSet<OsString>,
    /// Other patterns that matter.
    pub(crate) patterns: BTreeSet<String>,
}

impl Interest {
    /// Adds another interest.
    pub(crate) fn merge(&mut self, other: Self) {
        self.files |= other.files;
        self.subfolders |= other.subfolders;
        self.names.extend(other.names);
        self.patterns.extend(other.patterns);
    }

    /// Returns whether only the folder's own fate matters, not its content.
    pub(crate) fn is_of_fate(&self) -> bool {
        *self == Self::default()
    }

    fn includes(&self, name: &OsStr, is_file_write: bool) -> bool {
        self.names.contains(name)
            || (self.subfolders && !is_file_write)
            || (self.files && name.to_str().is_some_and(is_known))
            || (!self.patterns.is_empty() && self.has_pattern_of(name))
    }

    fn has_pattern_of(&self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        self.patterns.iter().any(|pattern| fits(pattern, &name))
    }
}

/// Returns what matters, by folder. A folder that does not exist is waited for in the nearest one above it that does.
/// Of all folders above, their own fate matters: a folder is not reported when one above it moves away (inotify(7)).
pub(crate) fn wanted(folders: &[PathBuf], names: &Names) -> BTreeMap<PathBuf, Interest> {
    let mut all: BTreeMap<PathBuf, Interest> = BTreeMap::new();
    for folder in folders {
        let (folder, own) = match folder.file_name() {
            Some(name) if name == "*" => {
                let parent = folder.parent().unwrap_or(folder);
                (parent, Interest { subfolders: true, ..Interest::default() })
            }
            _ => {
                let patterns = names.get(folder).cloned().unwrap_or_default();
                (folder.as_path(), Interest { files: true, patterns, ..Interest::default() })
            }
        };
        if let Some((at, interest)) = standing(folder, own) {
            for above in at.ancestors().skip(1).filter(|above| above.parent().is_some()) {
                all.entry(above.to_path_buf()).or_default();
            }
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

/// One change in a watched folder.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    /// The folder itself has gone, moved or changed its permissions.
    Folder(&'a Path),
    /// Something in it has changed.
    Entry {
        folder: &'a Path,
        name: &'a OsStr,
        /// Whether a file was written, and nothing was added or removed.
        is_write: bool,
    },
}

/// Decides whether a change means another look.
pub(crate) fn matters(change: &Change<'_>, interests: &BTreeMap<PathBuf, Interest>) -> bool {
    match change {
        Change::Folder(folder) => interests.contains_key(*folder),
        Change::Entry { folder, name, is_write } => {
            interests.get(*folder).is_some_and(|interest| interest.includes(name, *is_write))
        }
    }
}

fn is_known(name: &str) -> bool {
    let is_of_format = || format::places().any(|place| (place.recognise)(name));
    // Every git command makes and removes locks; the next look finds one that stays.
    GIT.contains(&name) || (!git::is_of_command(name) && is_of_format())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interests() -> BTreeMap<PathBuf, Interest> {
        let mut interests = BTreeMap::from([
            (PathBuf::from("/tmp"), Interest { files: true, ..Interest::default() }),
            (PathBuf::from("/home/.maia/checkpoints"), Interest { subfolders: true, ..Interest::default() }),
        ]);
        let late = Interest { names: BTreeSet::from(["claude_spawn_markers".into()]), ..Interest::default() };
        interests.entry("/tmp".into()).or_default().merge(late);
        let own = Interest { patterns: BTreeSet::from(["*.agent.pid".to_owned()]), ..Interest::default() };
        interests.insert("/own".into(), own);
        interests
    }

    #[track_caller]
    fn check(path: &str, is_write: bool, expected: bool) {
        let path = Path::new(path);
        let (folder, name) = (path.parent().unwrap(), path.file_name().unwrap());
        let change = Change::Entry { folder, name, is_write };
        assert_eq!(matters(&change, &interests()), expected, "{change:?}");
    }

    #[test]
    fn of_folders_above_only_their_fate_matters() {
        let world = tempfile::tempdir().unwrap();
        let wanted = wanted(&[world.path().join("late/sessions")], &Names::new());
        let (at, above) = (world.path(), world.path().parent().unwrap());
        assert!(wanted.get(at).is_some_and(|interest| interest.names.contains(OsStr::new("late"))));
        assert!(wanted.get(above).is_some_and(Interest::is_of_fate));
        assert!(!wanted.contains_key(Path::new("/")), "it stays where it is");
    }

    #[test]
    fn only_what_matters_is_a_hint() {
        check("/tmp/claude_session_alpha", true, true);
        check("/tmp/rustc-1.tmp", true, false);
        check("/tmp/index.lock", false, false);
        check("/tmp/claude_spawn_markers", false, true);
        check("/tmp/.tmpXYZ", false, false);
        check("/home/.maia/checkpoints/context_77", false, true);
        check("/home/.maia/checkpoints/log", true, false);
        check("/own/build.agent.pid", true, true);
        check("/own/build.agent.pid~", true, false);
        check("/tmp/build.agent.pid", true, false);
        assert!(matters(&Change::Folder(Path::new("/tmp")), &interests()));
    }
}
