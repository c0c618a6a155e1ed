//! Other machines: what their own claimtop tells of them, line by line, and how that joins what is seen here.
//!
//! A machine judges its own processes, for it alone sees them; what travels are finished reports and never
//! snapshots. Its claimtop is the *witness*: that it saw somebody die stays true for ever, and that it is silent
//! says nothing.

mod across;
pub(crate) mod clones;
pub(crate) mod decoder;
pub(crate) mod discreet;
pub(crate) mod encoder;
pub(crate) mod far;
pub(crate) mod going;
mod harmless;
pub(crate) mod host_name;
#[cfg(feature = "postgres")]
pub(crate) mod host_row;
pub(crate) mod identity;
pub(crate) mod last_known;
pub(crate) mod line;
pub(crate) mod merge;
pub(crate) mod order;
pub(crate) mod outbox;
pub(crate) mod pace;
pub(crate) mod part;
#[cfg(feature = "postgres")]
mod presence;
pub(crate) mod publisher;
mod resumed;
#[cfg(feature = "postgres")]
pub(crate) mod roster;
#[cfg(feature = "postgres")]
pub(crate) mod signed;
pub(crate) mod teller;
pub(crate) mod transport;
mod witness;
