//! The pure core: identities, records, claims, verdicts and findings.

pub mod assess;
pub(crate) mod fleet;
pub(crate) mod guard;
pub mod history;
pub mod judge;
pub mod model;
pub(crate) mod plan;
#[cfg(test)]
pub(crate) mod testing;
