//! The state of a working tree as git reports it.

use serde::Serialize;

use crate::core::model::Untrusted;

/// The state of a working tree as git reports it. `None` means unknown and counts as something to lose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeState {
    /// Why git was not run, or what it did not answer.
    pub unasked: Option<String>,
    /// Whether a file that git knows may differ from its index, by times and sizes alone.
    pub is_changed: Option<bool>,
    /// Whether the index differs from the last commit.
    pub is_staged: Option<bool>,
    /// The untracked files and folders.
    pub untracked: Option<Names>,
    /// The ignored files: git removes them with the tree, without a warning.
    pub ignored: Option<Names>,
    /// The files that git is configured not to check, changed or not.
    pub unwatched: Option<Names>,
    /// How many commits are not in the main working tree's head.
    pub unmerged: Option<u64>,
    /// How many commits are in no branch, remote branch or tag: they are lost with a detached head.
    pub unnamed: Option<u64>,
    /// The operation in progress, such as `rebase`.
    pub amid: Option<&'static str>,
    /// Whether it has submodules, whose state is not queried.
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
    /// Returns descriptions of what would or might be lost if the tree were removed.
    pub(crate) fn lost(&self) -> Vec<String> {
        if let Some(why) = &self.unasked {
            return vec![format!("git was not asked: {why}")];
        }
        let or = |fact: Option<bool>, yes: &str, unknown: &str| match fact {
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
            Some(commits) => Some(format!("{commits} on no branch")),
            None => Some("some may be on no branch".to_owned()),
        };
        [
            or(
                self.is_changed,
                "files that may have been changed",
                "it is not known whether files were changed",
            ),
            or(self.is_staged, "staged changes", "it is not known whether anything is staged"),
            names(&self.untracked, "untracked"),
            names(&self.ignored, "ignored, which git worktree remove deletes without warning"),
            names(&self.unwatched, "that git was set not to look at"),
            unnamed.map(|commits| format!("commits: {commits}")),
            self.amid.map(|amid| format!("a {amid} that is not finished")),
            self.has_submodules.then(|| "submodules, which were not checked".to_owned()),
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
