//! What a guard knows and when it speaks: whether a tool's call would lose or overwrite what another
//! window has not committed. Pure; [`crate::source::own::ledger`] reads what it decides by.

pub(crate) mod decide;
pub(crate) mod folder;
pub(crate) mod git;
pub(crate) mod seen;
pub(crate) mod shell;
