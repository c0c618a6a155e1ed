//! Requests to the connection's thread, and its state.

use std::sync::Arc;
use std::sync::mpsc::Sender as Answer;

use jiff::Timestamp;

use crate::source::database::leo::read::DatabaseReading;

/// The state of the connection at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkState {
    /// The last read.
    pub(crate) last: Option<Arc<DatabaseReading>>,
    /// Counts the reads and the changes of the connection.
    pub(crate) version: u64,
    /// Since when the connection stands; `None` while there is no connection.
    pub(crate) since: Option<Timestamp>,
    /// Why there is no connection.
    pub(crate) trouble: Option<String>,
    /// When the server last confirmed that the last read is still current.
    pub(crate) confirmed_at: Option<Timestamp>,
}

/// A request to the thread.
pub(crate) enum Request {
    /// Read now, and report when it is done.
    Read(Answer<()>),
    /// Look for changes from now on.
    Follow,
}
