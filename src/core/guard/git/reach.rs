//! The reach of a git call, and which files it takes there.

use crate::core::guard::shell::token::{ANY, MANY};

/// Which files a call of git takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Those that git tracks.
    pub(crate) tracked: TrackedFiles,
    /// Those that it neither tracks nor ignores.
    pub(crate) untracked: bool,
    /// Those that it ignores.
    pub(crate) ignored: bool,
    /// Whether it also takes untracked files from folders in which git tracks nothing.
    pub(crate) in_new_folders: bool,
    /// Whether it takes untracked files that are named exactly: a commit's file takes the place of such a file.
    pub(crate) named: bool,
}

/// Which of the edited tracked files a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrackedFiles {
    None,
    /// All that differ from the commit.
    Changed,
    /// Those of them that exist in the commit.
    InCommit,
    /// Those whose content in the index differs from the commit's.
    Staged,
    /// Those that differ from the index.
    Unstaged,
}

impl Takes {
    pub(crate) const ALL: Self = Self {
        tracked: TrackedFiles::Changed,
        untracked: true,
        ignored: true,
        in_new_folders: true,
        named: true,
    };
    /// All files that another window may want to commit.
    pub(crate) const WORK: Self = Self { ignored: false, ..Self::ALL };

    pub(crate) const fn known(tracked: TrackedFiles) -> Self {
        Self { tracked, untracked: false, named: false, ..Self::WORK }
    }

    /// Replaces what is there by the content of a commit.
    pub(crate) const fn out_of_commit(tracked: TrackedFiles) -> Self {
        Self { named: true, ..Self::known(tracked) }
    }
}

/// The reach of a git call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The whole working tree.
    Tree,
    /// These paths, absolute, and everything below them.
    Paths(Vec<String>),
    /// These files, absolute, and nothing below.
    Files(Vec<String>),
    /// These paths if they exist. Otherwise the first names a commit, and the call reaches the others, or else the
    /// whole working tree.
    PathsOrTree(Vec<String>),
}

/// Returns whether a path may stand for others as well: for git, or for the shell before it (glob(7)).
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', MANY, ANY])
}

/// Returns the pattern of a path that the shell expands to file names, in the common syntax.
pub(crate) fn shells_pattern(path: &str) -> Option<String> {
    if !path.contains([MANY, ANY]) {
        return None;
    }
    let mut pattern = String::new();
    for c in path.chars() {
        match c {
            MANY => pattern.push('*'),
            ANY => pattern.push('?'),
            '*' | '?' | '[' | '\\' => pattern.extend(['\\', c]),
            plain => pattern.push(plain),
        }
    }
    Some(pattern)
}
