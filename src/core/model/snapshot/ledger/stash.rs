//! What guarded windows record of git's stash, which is one stack for all working trees of a repository.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::Untrusted;

/// The most entries of the stash that one line names.
pub(crate) const MOST_ENTRIES: usize = 32;

/// What a shell line is about to do to the stash, or has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StashLine {
    Before(StashBefore),
    After(StashAfter),
}

/// A shell line is about to change the stash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StashBefore {
    pub(crate) at: Timestamp,
    /// The agent's name for the call, if it has one.
    pub(crate) call: Option<Untrusted>,
    /// The top of the working tree.
    pub(crate) tree: Untrusted,
    /// Its branch; `None` if it is on none.
    pub(crate) branch: Option<Untrusted>,
    /// The commits of the entries that are there, the newest first.
    pub(crate) entries: Vec<Untrusted>,
    /// Whether the line may make an entry.
    pub(crate) makes: bool,
}

/// It has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StashAfter {
    pub(crate) at: Timestamp,
    /// The agent's name for the call, if it has one.
    pub(crate) call: Option<Untrusted>,
    /// The top of the working tree.
    pub(crate) tree: Untrusted,
    /// The entries that it has made, as far as that can be determined: more than one session may claim one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) made: Vec<StashMade>,
    /// The commits of entries that it has taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) took: Vec<Untrusted>,
}

/// An entry that a session has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StashMade {
    pub(crate) commit: Untrusted,
    /// When, by git's log.
    pub(crate) at: Timestamp,
    /// How many files it has, if that could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<usize>,
}
