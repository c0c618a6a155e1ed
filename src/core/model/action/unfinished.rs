//! Claimtop's own actions that did not end, or ended halfway.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::{Action, FilePath, Key, Untrusted};

/// One of claimtop's own actions, on this machine, that was cut off or ended halfway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedAction {
    /// The number of the journal entry that has to be undone for it.
    pub entry: u64,
    /// The requested action.
    pub action: Action,
    /// Its subject.
    pub title: Untrusted,
    /// When it was begun.
    pub began_at: Timestamp,
    /// How it ended.
    pub end: Halfway,
    /// The parked files whose original places are empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<FilePath>,
}

/// How an action ended halfway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Halfway {
    /// The journal does not have its end, and no claimtop is at work.
    CutOff,
    /// The journal does not have its end, and the process with this PID holds the lock, so it may be doing it. 0 means
    /// that the process is not visible.
    AtWork(u32),
    /// It got stuck, and has left something parked.
    Stuck,
    /// It was not done, but something of it is still parked.
    LeftParked,
}

impl UnfinishedAction {
    /// Returns the key of its entry.
    pub fn key(&self) -> Key {
        Key::of_entry(self.entry)
    }
}
