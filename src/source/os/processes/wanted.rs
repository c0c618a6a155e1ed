//! Which processes are read in detail, and how much of the table is read anew.

use std::collections::BTreeSet;

use crate::core::judge::git;
use crate::core::judge::window::agent::Candidates;
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{Process, ProcessTable};

/// The processes that are read in detail, with their ancestors.
#[derive(Clone, Copy)]
pub(crate) struct DetailTargets<'a> {
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

impl DetailTargets<'_> {
    /// Returns whether a process of this thread name is looked at more closely: a possible agent,
    /// or a git that may hold a lock.
    pub(crate) fn matters(&self, comm: &str) -> bool {
        self.candidates.may_be(comm) || git::is_named_so(comm)
    }

    /// Returns possible agents, also under another name, processes that records name by any of their numbers, and all
    /// their ancestors.
    pub(crate) fn those_who_matter(
        &self,
        table: &ProcessTable,
        renamed: impl Iterator<Item = u32>,
    ) -> BTreeSet<u32> {
        let is_named = |process: &Process| {
            process.inner_pids().unwrap_or_default().iter().any(|number| self.named.contains(number))
        };
        let matters = |process: &&Process| self.matters(process.comm.raw()) || is_named(process);
        let candidates = table.by_pid.values().filter(matters);
        let named = self.named.iter().filter_map(|pid| table.get(*pid)).map(|process| process.id.pid);
        let mut those = BTreeSet::new();
        for pid in candidates.map(|process| process.id.pid).chain(renamed).chain(named) {
            if those.contains(&pid) {
                continue;
            }
            those.extend(ancestry(table, pid).into_iter().map(|process| process.id.pid));
        }
        those
    }
}
