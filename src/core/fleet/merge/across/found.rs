//! What is found between machines.

use std::collections::HashSet;

use crate::core::model::{Finding, Key};

/// The findings so far.
#[derive(Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    /// The claims that a window of another machine holds too.
    pub(super) contested: HashSet<Key>,
}
