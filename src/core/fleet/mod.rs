//! Other machines: the line-by-line reports of their own claimtops, and how they are merged with what is seen here.
//!
//! A machine judges its own processes, because only it can see them; it sends finished reports and never snapshots.
//! Its claimtop is the *witness*: a death that it saw stays true for ever, and its silence proves nothing.

pub(crate) mod database;
pub(crate) mod last_known;
pub(crate) mod merge;
pub(crate) mod order;
#[cfg(feature = "postgres")]
pub(crate) mod signed;
pub(crate) mod transport;
pub(crate) mod wire;
