//! Decides when a guard speaks: whether a tool's call would lose or overwrite the uncommitted work of another window.
//! Pure; [`crate::source::own::ledger`] reads the input of its decisions.

pub(crate) mod call;
pub(crate) mod decide;
pub(crate) mod files;
pub(crate) mod folder;
pub(crate) mod git;
pub(crate) mod loss;
pub(crate) mod seen;
pub(crate) mod shell;
pub(crate) mod stash;
