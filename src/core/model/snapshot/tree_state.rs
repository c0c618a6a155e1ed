//! What git says of a working tree when it is asked.

use serde::Serialize;

use crate::core::model::Untrusted;

/// What git says of a working tree. What could not be told is `None`, and counts as something to lose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeState {
    /// Why git was not asked, or what it has not answered.
    pub unasked: Option<String>,
    /// Whether a file that git knows may differ from its index, by times and sizes alone.
    pub is_changed: Option<bool>,
    /// Whether the index differs from the last commit.
    pub is_staged: Option<bool>,
    /// The files and folders that git does not know.
    pub untracked: Option<Names>,
    /// Those that it was told to ignore: it removes them with the tree, and says nothing.
    pub ignored: Option<Names>,
    /// The files that it was told not to look at, changed or not.
    pub unwatched: Option<Names>,
    /// How many commits the main working tree's head does not have.
    pub unmerged: Option<u64>,
    /// How many commits no branch, remote branch or tag has: they go with a detached head.
    pub unnamed: Option<u64>,
    /// What it is in the middle of, such as `rebase`.
    pub amid: Option<&'static str>,
    /// Whether it has submodules, of which nothing is asked.
    pub has_submodules: bool,
}

/// Some names, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Names {
    /// How many.
    pub count: usize,
    /// Whether there are more than were counted.
    pub is_more: bool,
    /// The first of them.
    pub first: Vec<Untrusted>,
}

impl TreeState {
    /// Says what would be lost, or may be, if the tree were removed.
    pub(crate) fn lost(&self) -> Vec<String> {
        if let Some(why) = &self.unasked {
            return vec![format!("git was not asked: {why}")];
        }
        let or = |told: Option<bool>, yes: &str, unknown: &str| match told {
            Some(true) => Some(yes.to_owned()),
            Some(false) => None,
            None => Some(unknown.to_owned()),
        };
        let names = |names: &Option<Names>, what: &str| match names {
            Some(names) if names.count == 0 && !names.is_more => None,
            Some(names) => Some(names.join(what)),
            None => Some(format!("{what} could not be listed")),
        };
        let unnamed = match self.unnamed {
            Some(0) => None,
            Some(commits) => Some(format!("{commits} that no branch has")),
            None => Some("commits that no branch may have".to_owned()),
        };
        [
            or(
                self.is_changed,
                "files that may have been changed",
                "whether files were changed is not known",
            ),
            or(self.is_staged, "what is staged", "whether anything is staged is not known"),
            names(&self.untracked, "untracked"),
            names(&self.ignored, "ignored, which git worktree remove deletes without a word"),
            names(&self.unwatched, "that git was told not to look at"),
            unnamed.map(|commits| format!("commits: {commits}")),
            self.amid.map(|amid| format!("a {amid} that is not finished")),
            self.has_submodules.then(|| "submodules, of which nothing was asked".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Names {
    fn join(&self, what: &str) -> String {
        let first: Vec<String> = self.first.iter().map(Untrusted::shown).collect();
        let more = if self.count > self.first.len() { ", …" } else { "" };
        let least = if self.is_more { "at least " } else { "" };
        format!("{least}{} {what} ({}{more})", self.count, first.join(", "))
    }
}
