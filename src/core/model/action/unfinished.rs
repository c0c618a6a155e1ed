//! Actions of claimtop's own that did not end, or ended halfway.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::{Action, FilePath, Key, Untrusted};

/// An action of claimtop's own, on this machine, that was cut off or ended halfway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedAction {
    /// The number of the journal's entry that has to be undone for it.
    pub entry: u64,
    /// What was asked for.
    pub action: Action,
    /// What it was about.
    pub title: Untrusted,
    /// When it was begun.
    pub began_at: Timestamp,
    /// How it ended.
    pub end: Halfway,
    /// The files that are parked, and in whose places nothing lies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<FilePath>,
}

/// How an action ended halfway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Halfway {
    /// The journal has no end of it, and no claimtop is at work.
    CutOff,
    /// The journal has no end of it, and the process of this PID holds the lock: it may be doing it. 0 is one
    /// that cannot be seen.
    AtWork(u32),
    /// It got stuck, and has left something parked.
    Stuck,
    /// It was not done, and something of it is parked all the same.
    LeftParked,
}

impl UnfinishedAction {
    /// Returns the key of its entry.
    pub fn key(&self) -> Key {
        Key::of_entry(self.entry)
    }
}
