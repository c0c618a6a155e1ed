//! Counts what the simulation really did.

use std::collections::BTreeMap;

/// How often each event occurred.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(pub(crate) BTreeMap<String, usize>);

impl Tally {
    pub(crate) fn count(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// Returns how often events occurred whose names start with this.
    pub(crate) fn of(&self, start: &str) -> usize {
        self.0.iter().filter(|(what, _)| what.starts_with(start)).map(|(_, count)| count).sum()
    }

    pub(crate) fn table(&self) -> String {
        self.0.iter().map(|(what, count)| format!("{count:>9}  {what}\n")).collect()
    }
}
