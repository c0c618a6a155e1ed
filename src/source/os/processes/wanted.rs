//! Whose details are read, and how much of the table anew.

use std::collections::BTreeSet;

use crate::core::judge::agent::Candidates;
use crate::core::judge::git;

/// Whose details are read; those of their ancestors are read as well.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The thread names of possible agents.
    pub(crate) candidates: &'a Candidates,
    /// The PIDs that records name.
    pub(crate) named: &'a BTreeSet<u32>,
}

/// How much of the process table is read anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    Whole,
    /// What may have changed.
    Changes,
}

impl Wanted<'_> {
    /// Returns whether a process of this thread name is looked at more closely: a possible agent,
    /// or a git that may hold a lock.
    pub(crate) fn matters(&self, comm: &str) -> bool {
        self.candidates.may_be(comm) || git::is_named_so(comm)
    }
}
