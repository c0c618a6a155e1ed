//! Bound sessions: reports of an agent's own hook about which process runs a session.
//!
//! Such a note names one process beyond doubt, so it is the strongest evidence there is that a session lives. It is
//! no evidence against another process: a session may be resumed elsewhere, and one process may run several, so a
//! note never excludes an owner and a gone process alone never ends a session.

pub(crate) mod holder;
pub(crate) mod index;
