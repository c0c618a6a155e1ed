//! The variables that a line sets.

use std::collections::BTreeMap;

/// The most variables that are known.
const MOST: usize = 64;

/// The value of a variable.
#[derive(Clone)]
pub(super) enum Value {
    Text(String),
    /// Each of these, one after the other.
    Each(Vec<String>),
    Unknown,
}

/// The values of the variables that a line sets.
#[derive(Clone, Default)]
pub(super) struct Variables {
    by_name: BTreeMap<String, Value>,
    /// Whether any other may have been set as well.
    are_lost: bool,
}

impl Variables {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        if self.by_name.len() < MOST || self.by_name.contains_key(name) {
            self.by_name.insert(name.to_owned(), value);
        } else {
            self.forget_all();
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.by_name.get(name)
    }

    /// Returns whether any other variable may have been set.
    pub(super) fn are_lost(&self) -> bool {
        self.are_lost
    }

    pub(super) fn forget_all(&mut self) {
        *self = Self { by_name: BTreeMap::new(), are_lost: true };
    }
}
