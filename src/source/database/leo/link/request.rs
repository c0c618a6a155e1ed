//! What the connection's thread is asked, and what it knows.

use std::sync::Arc;
use std::sync::mpsc::Sender as Answer;

use jiff::Timestamp;

use crate::source::database::leo::read::DatabaseReading;

/// What is known at any moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkState {
    /// What was read last.
    pub(crate) last: Option<Arc<DatabaseReading>>,
    /// Counts the reads and the changes of the connection.
    pub(crate) version: u64,
    /// Since when the connection stands; `None` while there is none.
    pub(crate) since: Option<Timestamp>,
    /// Why there is none.
    pub(crate) trouble: Option<String>,
    /// When the server last said that the last read is still so.
    pub(crate) confirmed_at: Option<Timestamp>,
}

/// What the thread is asked.
pub(crate) enum Request {
    /// Read now, and say when it is done.
    Read(Answer<()>),
    /// Look for changes from now on.
    Follow,
}
