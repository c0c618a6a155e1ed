//! Other machines: what their own claimtop tells of them, line by line, and how that joins what is seen here.
//!
//! A machine judges its own processes, for it alone sees them; what travels are finished reports and never
//! snapshots. Its claimtop is the *witness*: that it saw somebody die stays true for ever, and that it is silent
//! says nothing.

pub(crate) mod database;
pub(crate) mod last_known;
pub(crate) mod merge;
pub(crate) mod order;
#[cfg(feature = "postgres")]
pub(crate) mod signed;
pub(crate) mod transport;
pub(crate) mod wire;
