//! Which folders and files are watched, and for what.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::core::model::FolderId;
use crate::observe::watch::interest::Interest;

/// What matters where, shared with the watching thread.
pub(crate) type Interests = Arc<Mutex<BTreeMap<PathBuf, Interest>>>;

/// Why a folder is not watched.
pub(crate) enum WatchRefusal {
    /// It has gone, and the next look will find out.
    Gone,
    /// The system refuses; its words.
    Refused(String),
}

/// What of a folder is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What is in it, and its own fate.
    Contents,
    /// Whether it moves away or is removed.
    Fate,
    /// It is a file, and whether somebody opens it.
    Openings,
}

/// A folder that is watched: what its path was when it was taken up, since one that replaces it
/// is another.
pub(crate) type HeldFolder = (FolderId, Scope);

pub(crate) fn lock(interests: &Interests) -> MutexGuard<'_, BTreeMap<PathBuf, Interest>> {
    interests.lock().unwrap_or_else(PoisonError::into_inner)
}
