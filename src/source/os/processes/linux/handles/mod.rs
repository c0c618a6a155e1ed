//! What a process has open, and whether a person or another process is at the other end.

pub(crate) mod blocking;
pub(crate) mod call_waits;
pub(crate) mod hindrance;
pub(crate) mod input;
pub(crate) mod interaction;
pub(crate) mod links;
