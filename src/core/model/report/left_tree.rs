//! Working trees that windows leave behind, and stash entries that have their edits.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::report::need::quoted;
use crate::core::model::text::named::named;
use crate::core::model::{Certainty, Evidence, Key, Untrusted};

named! {
    /// The relation of a folder to a repository.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum TreeSort {
        /// A linked working tree that git lists.
        #[default]
        Linked = "linked",
        /// Its `.git` file names a folder of the repository that does not exist: git no longer lists it.
        Forgotten = "forgotten",
        /// It was moved by hand: git lists the place where it was.
        Moved = "moved",
        /// A repository of its own.
        Clone = "clone",
    }
}

impl TreeSort {
    /// Returns why git's list does not have it, and what to do.
    pub(crate) fn advice(self) -> Option<&'static str> {
        match self {
            Self::Linked => None,
            Self::Forgotten => Some("git has forgotten it, so its files may be all that is left of it"),
            Self::Moved => Some("it was moved by hand: git worktree repair PATH makes git find it again"),
            Self::Clone => Some("it is a clone, with branches of its own"),
        }
    }
}

/// A working tree that an agent has made, or whose folder is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftTree {
    /// Stable for as long as the repository has it.
    pub key: Key,
    /// Its folder.
    pub path: Untrusted,
    /// The repository: its main working tree, else its common directory.
    pub repository: Untrusted,
    /// The branch that is checked out.
    pub branch: Option<Untrusted>,
    /// Which agent made it, such as `claude-code`.
    pub agent: Option<Untrusted>,
    /// The PID of the window that made it.
    pub window_pid: Option<u32>,
    /// The current or last name of that window.
    pub window_name: Option<Untrusted>,
    /// The last time in its record, if it has ended.
    pub window_ended_at: Option<Timestamp>,
    /// That window's session.
    pub session: Option<Untrusted>,
    /// How certain its owner is, and that no process works in it.
    pub certainty: Certainty,
    /// Why it is not more certain, or who holds it; empty if it is exact.
    pub why: String,
    /// Its relation to the repository.
    #[serde(default)]
    pub sort: TreeSort,
    /// Whether its folder is certainly gone.
    pub is_gone: bool,
    /// Whether no commit was ever made in it; files may have been changed.
    pub has_no_commit: bool,
    /// The branch of the main working tree, if the heads are the same commit.
    pub merged_into: Option<Untrusted>,
    /// Whether git has locked it.
    pub is_locked: bool,
    /// The record of its lock, if the locking process is proven dead, so that a release can remove it.
    pub releasable_lock: Option<Key>,
    /// Its evidence.
    pub evidence: Vec<Evidence>,
}

impl LeftTree {
    /// Returns whether it belongs to a dead window beyond reasonable doubt.
    pub fn is_left(&self) -> bool {
        self.certainty <= Certainty::Strong
    }

    /// Returns what is known of it without running git.
    pub(crate) fn known(&self) -> Vec<String> {
        let merged = self.merged_into.as_ref().map(|branch| format!("merged into {branch}"));
        let lock = match (&self.releasable_lock, self.is_locked) {
            (Some(_), _) => Some("its lock was left".to_owned()),
            (None, true) => Some("it is locked".to_owned()),
            (None, false) => None,
        };
        let gone = self.is_gone.then(|| "its folder is gone".to_owned());
        let no_commit = self.has_no_commit.then(|| "no commit was made in it".to_owned());
        let sort = self.sort.advice().map(str::to_owned);
        // A tree without a commit of its own is at its starting point anyway.
        [sort, gone, no_commit.or(merged), lock].into_iter().flatten().collect()
    }
}

/// A stash entry that has edits of a session whose window is dead. All linked working trees of a repository share one
/// stash (git-stash(1)), so nothing else says whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftStash {
    /// Stable for as long as the entry exists.
    pub key: Key,
    /// The name of its commit in hexadecimal.
    pub commit: Untrusted,
    /// A folder of the working tree in which the files were edited.
    pub folder: Untrusted,
    /// The name of the window.
    pub window_name: Untrusted,
    /// The window's session.
    pub session: Untrusted,
    /// How many of its edited files are in the entry and nowhere else.
    pub files: usize,
    /// When it was made, as far as the files show.
    pub since: Option<Timestamp>,
}

impl LeftStash {
    /// Returns the command that puts its files back and keeps the entry.
    pub fn apply(&self) -> String {
        format!("git -C {} stash apply {}", quoted(self.folder.raw()), quoted(self.commit.raw()))
    }

    /// Returns the part of the commit's name that people use.
    pub(crate) fn short(&self) -> String {
        self.commit.raw().chars().take(10).collect()
    }
}
