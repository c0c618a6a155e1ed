//! Open sockets and their processes.

pub(crate) mod diag;
pub(crate) mod tcp;
