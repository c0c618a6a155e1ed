//! Which sockets there are, and whose.

pub(crate) mod diag;
pub(crate) mod tcp;
