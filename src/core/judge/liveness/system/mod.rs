//! Verdicts on records that name no process of their own, by the rules of their system.

pub(crate) mod git;
pub(crate) mod leo;
pub(crate) mod obra;
pub(crate) mod tasks;
pub(crate) mod team;
