//! Findings about LEO's database, where a claim is written on two surfaces.

use super::Facts;
use crate::core::finding::Finding;

/// Finds what is wrong between items of work and sessions.
pub(super) fn findings<'a>(_facts: &'a Facts<'a>) -> Vec<Finding> {
    Vec::new()
}
