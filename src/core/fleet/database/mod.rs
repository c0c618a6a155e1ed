//! Machines that meet in a database: what a witness publishes, and what a viewer reads.

pub(crate) mod host_name;
#[cfg(feature = "postgres")]
pub(crate) mod host_row;
pub(crate) mod outbox;
pub(crate) mod outbox_feed;
pub(crate) mod pace;
#[cfg(feature = "postgres")]
pub(crate) mod presence;
pub(crate) mod publisher;
#[cfg(feature = "postgres")]
pub(crate) mod roster;
