//! The sub-agents in a session's own file.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::core::model::{Call, SubAgent, Untrusted};

/// The most sub-agents of a session that are kept.
const MOST: usize = 32;

/// The sub-agents of a session, by its own file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Helpers {
    /// Those that run.
    running: BTreeMap<Untrusted, SubAgent>,
    /// Those that have a file of their own.
    filed: BTreeSet<Untrusted>,
}

impl Helpers {
    /// One begins.
    pub(crate) fn starts(&mut self, id: Untrusted, task: Option<Untrusted>, since: Option<Timestamp>) {
        if self.running.len() < MOST {
            self.running.insert(id.clone(), SubAgent { id, task, call: None, since });
        }
    }

    /// Its work is in a file of its own.
    pub(crate) fn has_file(&mut self, id: Untrusted) {
        if self.filed.len() < MOST {
            self.filed.insert(id);
        }
    }

    /// One has called a tool; `None` once that has its result.
    pub(crate) fn calls(&mut self, id: &Untrusted, call: Option<Call>) {
        if let Some(agent) = self.running.get_mut(id) {
            agent.call = call;
        }
    }

    /// One has ended.
    pub(crate) fn ends(&mut self, id: &Untrusted) {
        self.running.remove(id);
    }

    /// The turn broke off, and they with it.
    pub(crate) fn all_end(&mut self) {
        self.running.clear();
    }

    /// Returns those that run.
    pub(crate) fn running(&self) -> Vec<SubAgent> {
        self.running.values().cloned().collect()
    }

    /// Returns those that have a file of their own, whether or not they run.
    pub(crate) fn filed(&self) -> impl Iterator<Item = &Untrusted> {
        self.filed.iter()
    }
}
