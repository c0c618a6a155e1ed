//! Where a call of git reaches, and which files it takes there.

use crate::core::guard::shell::token::{ANY, MANY};

/// Which files a call of git takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Those that git knows.
    pub(crate) tracked: TrackedFiles,
    /// Those that it neither knows nor ignores.
    pub(crate) untracked: bool,
    /// Those that it ignores.
    pub(crate) ignored: bool,
    /// Whether it takes files that git does not know also from folders of which it knows none.
    pub(crate) in_new_folders: bool,
    /// Whether it takes files that git does not know where each is named: a commit's file takes the place of such a one.
    pub(crate) named: bool,
}

/// Which of the edited files that git knows a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrackedFiles {
    None,
    /// All that are not as the commit has them.
    Changed,
    /// Of these those that the commit has at all.
    InCommit,
    /// Those of which the index has another content than the commit.
    Staged,
    /// Those that are not as the index has them.
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
    /// All that somebody may want to commit.
    pub(crate) const WORK: Self = Self { ignored: false, ..Self::ALL };

    pub(super) const fn known(tracked: TrackedFiles) -> Self {
        Self { tracked, untracked: false, named: false, ..Self::WORK }
    }

    /// Takes what a commit has into the place of what is there.
    pub(super) const fn out_of_commit(tracked: TrackedFiles) -> Self {
        Self { named: true, ..Self::known(tracked) }
    }
}

/// What a call of git reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The whole working tree.
    Tree,
    /// These paths, absolute, and what lies below them.
    Paths(Vec<String>),
    /// These files, absolute, and nothing below.
    Files(Vec<String>),
    /// These paths if they are there. Else the first names a commit, and it reaches the others, or else the whole
    /// working tree.
    PathsOrTree(Vec<String>),
}

/// Returns whether a path may stand for others as well: to git, or to the shell before it (glob(7)).
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', MANY, ANY])
}

/// Returns the pattern of a path that the shell puts names of files for, as others write it.
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
