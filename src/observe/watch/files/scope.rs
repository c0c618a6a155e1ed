//! The watched folders and files, and what is watched of each.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::core::model::FolderId;
use crate::observe::watch::interest::Interest;

/// The interest in each folder, shared with the watching thread.
pub(crate) type Interests = Arc<Mutex<BTreeMap<PathBuf, Interest>>>;

/// Why a folder is not watched.
pub(crate) enum WatchRefusal {
    /// It has gone, as the next look will find out.
    Gone,
    /// The system refuses; its error text.
    Refused(String),
}

/// What is watched of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Its content, and its own fate.
    Contents,
    /// Whether it moves away or is removed.
    Fate,
    /// Whether a process opens it; it is a file.
    Openings,
}

/// A watched folder: its ID when the watch was added, since a folder that replaces it is another one.
pub(crate) type HeldFolder = (FolderId, Scope);

pub(crate) fn lock(interests: &Interests) -> MutexGuard<'_, BTreeMap<PathBuf, Interest>> {
    interests.lock().unwrap_or_else(PoisonError::into_inner)
}
