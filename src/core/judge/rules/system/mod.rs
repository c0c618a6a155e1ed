//! Findings that only one system's records can show.

pub(crate) mod entire;
pub(crate) mod leo;
pub(crate) mod obra;
pub(crate) mod registry;
pub(crate) mod stray;
pub(crate) mod tasks;
