//! Verdicts on what names no process of its own, by the rules of its system.

pub(crate) mod git;
pub(crate) mod leo;
pub(crate) mod obra;
pub(crate) mod tasks;
pub(crate) mod team;
