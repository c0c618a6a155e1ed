//! The repositories that one look has found, each once, and not too many.

use std::collections::{BTreeMap, BTreeSet};
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
    tried: BTreeSet<PathBuf>,
    has_more: bool,
}

enum State {
    Unread(Located),
    Read,
}

impl Found {
    /// Adds the repositories that these folders lie in; returns whether one is new.
    pub(super) fn add(&mut self, folders: &BTreeSet<PathBuf>, fence: &Fence) -> bool {
        let mut is_any_new = false;
        for folder in folders {
            if self.tried.insert(folder.clone())
                && let Some(located) = locate(folder, fence)
            {
                is_any_new |= self.insert(located);
            }
        }
        is_any_new
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
