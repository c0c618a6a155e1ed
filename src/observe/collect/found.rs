//! The repositories that one look has found, each once, and a limited number.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{SourceHealth, Untrusted};
use crate::observe::collect::health;
use crate::source::os::fence::Fence;
use crate::source::os::open::error::OpenError;
use crate::source::repos::find::{MAX_REPOS, find_below};
use crate::source::repos::locate;
use crate::source::repos::locate::RepoLocation;

/// How long the list of repositories below a root is reused: 10 s. Looking through a large folder costs more than all
/// the rest.
const ROOTS_FOR: SignedDuration = SignedDuration::from_secs(10);

/// The repositories of one look.
#[derive(Default)]
pub(crate) struct Discoveries {
    all: BTreeMap<PathBuf, State>,
    /// The folders whose repository was already looked for.
    tried: HashSet<PathBuf>,
    /// Those of them that do not exist: a path below one does not exist either, and was looked up as well.
    gone: HashSet<PathBuf>,
    /// The folders that lie in no repository, as far as may be looked.
    plain: HashSet<PathBuf>,
    has_more: bool,
}

enum State {
    Unread(RepoLocation),
    Read,
}

impl Discoveries {
    /// Adds the repositories that these folders lie in; returns whether one is new.
    pub(crate) fn add<'a>(&mut self, folders: impl IntoIterator<Item = &'a Path>, fence: &Fence) -> bool {
        let mut is_any_new = false;
        for folder in folders {
            is_any_new |= self.add_one(folder, fence);
        }
        is_any_new
    }

    fn add_one(&mut self, folder: &Path, fence: &Fence) -> bool {
        if self.is_below_gone(folder) || self.tried.contains(folder) {
            return false;
        }
        self.tried.insert(folder.to_path_buf());
        match folder.parent() {
            // A folder that has gone lay in its parent's repository. Finding that out costs far less, and thousands of
            // records can name folders that went together.
            Some(parent) if self.is_gone(folder) => self.add_one(parent, fence),
            Some(_) | None => match locate(folder, fence) {
                Some(located) => self.insert(located),
                None => {
                    self.plain.extend(fence.reaches(folder).then(|| folder.to_path_buf()));
                    false
                }
            },
        }
    }

    fn is_below_gone(&self, folder: &Path) -> bool {
        !self.gone.is_empty()
            && is_plain(folder)
            && folder.parent().is_some_and(|above| self.gone.contains(above))
    }

    fn is_gone(&mut self, folder: &Path) -> bool {
        if !is_plain(folder) {
            return false;
        }
        let is_gone = folder.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        if is_gone {
            self.gone.insert(folder.to_path_buf());
        }
        is_gone
    }

    fn insert(&mut self, located: RepoLocation) -> bool {
        if self.all.contains_key(&located.common_dir) {
            return false;
        }
        if self.all.len() >= MAX_REPOS {
            self.has_more = true;
            return false;
        }
        self.all.insert(located.common_dir.clone(), State::Unread(located));
        true
    }

    /// Returns which of these folders certainly lie in no repository that may be read.
    pub(crate) fn plain(&self, folders: &BTreeSet<PathBuf>) -> Vec<Untrusted> {
        let plain = folders.iter().filter(|folder| self.plain.contains(*folder));
        plain.map(|folder| Untrusted::from_path(folder)).collect()
    }

    /// Returns each repository once.
    pub(crate) fn unread(&mut self) -> Vec<RepoLocation> {
        let states = self.all.values_mut();
        states
            .filter_map(|state| match std::mem::replace(state, State::Read) {
                State::Unread(located) => Some(located),
                State::Read => None,
            })
            .collect()
    }

    /// Reports repositories that were left out.
    pub(crate) fn overflow(&self) -> Option<SourceHealth> {
        let why = format!("more than {MAX_REPOS} repositories; the others were not read");
        self.has_more.then(|| health::partial("repos", why))
    }
}

/// The repositories found below the roots that a person named.
#[derive(Default)]
pub(crate) struct Roots {
    searched_at: Option<Timestamp>,
    found: Vec<Result<Vec<RepoLocation>, OpenError>>,
}

impl Roots {
    /// Adds the repositories of all roots, and reports roots that have none.
    pub(crate) fn find(
        &mut self,
        roots: &[PathBuf],
        fence: &Fence,
        now: Timestamp,
        into: &mut Discoveries,
    ) -> Vec<SourceHealth> {
        if self.searched_at.is_none_or(|at| now.duration_since(at).abs() >= ROOTS_FOR) {
            self.found = roots.iter().map(|root| find_below(root, fence)).collect();
            self.searched_at = Some(now);
        }
        for located in self.found.iter().flatten().flatten() {
            into.insert(located.clone());
        }
        roots.iter().zip(&self.found).filter_map(|(root, found)| health(root, found)).collect()
    }
}

/// Returns whether a path's text shows the folders above it; links decide where a `..` leads.
fn is_plain(folder: &Path) -> bool {
    folder.is_absolute() && folder.components().all(|part| part != Component::ParentDir)
}

fn health(root: &Path, found: &Result<Vec<RepoLocation>, OpenError>) -> Option<SourceHealth> {
    match found {
        Ok(found) if found.is_empty() => Some(health::root(root, None)),
        Ok(_) => None,
        Err(error) => Some(health::root(root, Some(error))),
    }
}
