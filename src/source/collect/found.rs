//! The repositories that one look has found, each once, and not too many.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::health;
use crate::core::snapshot::SourceHealth;
use crate::source::fence::Fence;
use crate::source::open::OpenError;
use crate::source::repos::{Located, MAX_REPOS, below, locate};

/// How long the repositories below a root are taken for all of them: 10 s. Looking through a
/// large folder costs more than all the rest.
const ROOTS_FOR: SignedDuration = SignedDuration::from_secs(10);

/// The repositories of one look.
#[derive(Default)]
pub(super) struct Found {
    all: BTreeMap<PathBuf, State>,
    /// The folders that were already looked from.
    tried: HashSet<PathBuf>,
    /// Folders, by whether they exist: thousands of records may name folders of one parent.
    exist: HashMap<PathBuf, bool>,
    has_more: bool,
}

enum State {
    Unread(Located),
    Read,
}

impl Found {
    /// Adds the repositories that these folders lie in; returns whether one is new.
    pub(super) fn add<'a>(&mut self, folders: impl IntoIterator<Item = &'a Path>, fence: &Fence) -> bool {
        let mut is_any_new = false;
        for folder in folders {
            // What has gone is looked for from where it was, once for all that lay there.
            let standing = self.standing(folder);
            if !self.tried.contains(standing) {
                self.tried.insert(standing.to_path_buf());
                is_any_new |= locate(standing, fence).is_some_and(|located| self.insert(located));
            }
        }
        is_any_new
    }

    /// Returns the folder, or the nearest one above it that exists.
    fn standing<'a>(&mut self, folder: &'a Path) -> &'a Path {
        match folder.parent() {
            Some(parent) if !self.exists(parent) => self.standing(parent),
            Some(parent) if folder.symlink_metadata().is_err() => parent,
            Some(_) | None => folder,
        }
    }

    /// Returns whether a folder exists; nothing exists in one that does not.
    fn exists(&mut self, folder: &Path) -> bool {
        if let Some(known) = self.exist.get(folder) {
            return *known;
        }
        let exists =
            folder.parent().is_none_or(|parent| self.exists(parent)) && folder.symlink_metadata().is_ok();
        self.exist.insert(folder.to_path_buf(), exists);
        exists
    }

    fn insert(&mut self, located: Located) -> bool {
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

    /// Hands out each repository once.
    pub(super) fn unread(&mut self) -> Vec<Located> {
        let states = self.all.values_mut();
        states
            .filter_map(|state| match std::mem::replace(state, State::Read) {
                State::Unread(located) => Some(located),
                State::Read => None,
            })
            .collect()
    }

    /// Tells of repositories that were left out.
    pub(super) fn overflow(&self) -> Option<SourceHealth> {
        let why = format!("more than {MAX_REPOS} repositories; the others were not read");
        self.has_more.then(|| health::partial("repos", why))
    }
}

/// What was found below the roots that a person named.
#[derive(Default)]
pub(super) struct Roots {
    searched_at: Option<Timestamp>,
    found: Vec<Result<Vec<Located>, OpenError>>,
}

impl Roots {
    /// Adds the repositories of all roots, and tells of roots that have none.
    pub(super) fn find(
        &mut self,
        roots: &[PathBuf],
        fence: &Fence,
        now: Timestamp,
        into: &mut Found,
    ) -> Vec<SourceHealth> {
        if self.searched_at.is_none_or(|at| now.duration_since(at).abs() >= ROOTS_FOR) {
            self.found = roots.iter().map(|root| below(root, fence)).collect();
            self.searched_at = Some(now);
        }
        for located in self.found.iter().flatten().flatten() {
            into.insert(located.clone());
        }
        roots.iter().zip(&self.found).filter_map(|(root, found)| told(root, found)).collect()
    }
}

fn told(root: &Path, found: &Result<Vec<Located>, OpenError>) -> Option<SourceHealth> {
    match found {
        Ok(found) if found.is_empty() => Some(health::root(root, None)),
        Ok(_) => None,
        Err(error) => Some(health::root(root, Some(error))),
    }
}
