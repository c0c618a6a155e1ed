//! Watches folders, one by one and never what lies below them.
//!
//! Not recursive on purpose: a recursive watch loses what is written into a folder right after
//! it was made, and it stays with a folder that was moved away.

#[cfg(target_os = "linux")]
pub(crate) mod inotify;
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here so that it keeps compiling"))]
pub(crate) mod others;
pub(crate) mod scope;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::stat;

use crate::core::model::{FolderId, Untrusted};
use crate::observe::watch::files::scope::{HeldFolder, Interests, Scope, WatchRefusal, lock};
use crate::observe::watch::interest::{Interest, wanted};
use crate::observe::watch::notice::Notice;
use crate::source::os::open::meta::meta_of;
use crate::source::places::names::Names;

#[cfg(target_os = "linux")]
use crate::observe::watch::files::inotify as system;
#[cfg(not(target_os = "linux"))]
use crate::observe::watch::files::others as system;

/// The most folders that are watched; the kernel's limit is for all programs of a user.
pub(crate) const MAX_FOLDERS: usize = 1_024;

/// The watched folders.
pub(crate) struct Files {
    /// `None` if the system cannot provide a watcher.
    watcher: Option<system::Watcher>,
    watched: BTreeMap<PathBuf, HeldFolder>,
    interests: Interests,
    names: Names,
    programs: Vec<PathBuf>,
    notice: Notice,
    /// How many folders should be watched and are not.
    refused: usize,
}

impl Files {
    /// Prepares to watch.
    pub(crate) fn new(notice: Notice) -> Self {
        let interests = Interests::default();
        let watcher = system::Watcher::new(Arc::clone(&interests), notice.clone());
        let watcher = watcher.map_err(|error| notice.lost(format!("failed to watch files: {error}")));
        Self {
            watcher: watcher.ok(),
            watched: BTreeMap::new(),
            interests,
            names: Names::new(),
            programs: Vec::new(),
            notice,
            refused: 0,
        }
    }

    /// Returns how many folders are watched.
    pub(crate) fn count(&self) -> usize {
        self.watched.values().filter(|(_, scope)| *scope != Scope::Openings).count()
    }

    /// Returns how many folders should be watched for their content, and are not.
    pub(crate) fn refused(&self) -> usize {
        self.refused
    }

    /// Also takes changes of these names as hints.
    pub(crate) fn expect(&mut self, names: &Names) {
        self.names.clone_from(names);
    }

    /// Also takes the opening of these files as a hint.
    pub(crate) fn expect_programs(&mut self, programs: Vec<PathBuf>) {
        self.programs = programs;
    }

    /// Watches these folders and no others; returns whether a watch was added.
    pub(crate) fn follow(&mut self, folders: &[PathBuf]) -> bool {
        let (interests, mut held) = distinct(wanted(folders, &self.names));
        let needed = of_contents(held.iter().map(|(_, held)| held));
        held.extend(programs(&self.programs));
        self.bound(&mut held);
        let mut shared = lock(&self.interests);
        if *shared != interests {
            *shared = interests;
        }
        drop(shared);
        self.forget(&held);
        let mut is_any_new = false;
        for (path, held) in held {
            is_any_new |= !self.watched.contains_key(&path) && self.take_up(path, held);
        }
        self.refused = needed.saturating_sub(of_contents(self.watched.values()));
        is_any_new
    }

    /// Leaves out folders for which there is no room.
    fn bound(&self, held: &mut Vec<(PathBuf, HeldFolder)>) {
        // The folders themselves come first, in case there is not enough room for those above.
        held.sort_by_key(|(_, (_, scope))| *scope == Scope::Fate);
        if held.get(MAX_FOLDERS).is_some_and(|(_, (_, scope))| *scope == Scope::Contents) {
            self.notice.lost(format!("more than {MAX_FOLDERS} folders to watch; the others are not watched"));
        }
        held.truncate(MAX_FOLDERS);
    }

    /// Stops watching folders that are not wanted any more, that were replaced, or whose watch the system has ended: a
    /// folder that is removed and made anew may have the same inode.
    fn forget(&mut self, wanted: &[(PathBuf, HeldFolder)]) {
        let Some(watcher) = &mut self.watcher else { return };
        let wanted: BTreeMap<&PathBuf, &HeldFolder> =
            wanted.iter().map(|(path, held)| (path, held)).collect();
        let ended = watcher.ended();
        self.watched.retain(|path, held| {
            let stays = wanted.get(path) == Some(&&*held) && !ended.contains(path);
            if !stays {
                watcher.unwatch(path);
            }
            stays
        });
    }

    fn take_up(&mut self, path: PathBuf, held: HeldFolder) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        match watcher.watch(&path, held.1) {
            Ok(()) => {
                if held.1 == Scope::Contents
                    && let Some(kind) = system::remote(&path)
                {
                    self.notice.lost(format!("changes that others make on {kind} are not reported"));
                }
                self.watched.insert(path, held);
                true
            }
            // Few of the folders above may be ours to read; the next look shows if one of them moves. The next whole
            // look shows a change of a program that cannot be watched.
            Err(WatchRefusal::Refused(_)) if held.1 != Scope::Contents => false,
            Err(WatchRefusal::Gone) => false,
            Err(WatchRefusal::Refused(why)) => {
                self.notice.lost(format!("failed to watch {}: {why}", Untrusted::from_path(&path)));
                false
            }
        }
    }
}

/// Returns the programs that exist, each once whatever links lead to it.
fn programs(paths: &[PathBuf]) -> Vec<(PathBuf, HeldFolder)> {
    let files: BTreeMap<FolderId, &PathBuf> =
        paths.iter().filter_map(|path| Some((id(path)?, path))).collect();
    files.into_iter().map(|(id, path)| (path.clone(), (id, Scope::Openings))).collect()
}

/// Joins paths that are the same folder, since the kernel watches folders and not paths.
fn distinct(
    wanted: BTreeMap<PathBuf, Interest>,
) -> (BTreeMap<PathBuf, Interest>, Vec<(PathBuf, HeldFolder)>) {
    let mut paths: BTreeMap<FolderId, PathBuf> = BTreeMap::new();
    let mut interests: BTreeMap<PathBuf, Interest> = BTreeMap::new();
    for (path, interest) in wanted {
        let Some(id) = id(&path) else { continue };
        let path = paths.entry(id).or_insert(path).clone();
        interests.entry(path).or_default().merge(interest);
    }
    let held = |(id, path): (FolderId, PathBuf)| {
        let is_of_fate = interests.get(&path).is_none_or(Interest::is_of_fate);
        (path, (id, if is_of_fate { Scope::Fate } else { Scope::Contents }))
    };
    let held = paths.into_iter().map(held).collect();
    (interests, held)
}

/// Counts the folders that are watched for their content.
fn of_contents<'a>(held: impl Iterator<Item = &'a HeldFolder>) -> usize {
    held.filter(|(_, scope)| *scope == Scope::Contents).count()
}

fn id(path: &Path) -> Option<FolderId> {
    let meta = meta_of(&stat(path).ok()?);
    Some(FolderId { dev: meta.dev, ino: meta.ino })
}
