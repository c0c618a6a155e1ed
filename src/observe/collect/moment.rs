//! A given machine at one moment, which is not read, so that files that agents have written can be judged as they
//! were, anywhere.

use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{Host, ProcessTable, Record};

/// The machine that a look uses instead of reading this one.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The present moment.
    pub now: Timestamp,
    /// The machine's facts.
    pub host: Host,
    /// Its processes. As the system is queried further about a PID, they should have PIDs that are unlikely to be
    /// taken.
    pub processes: ProcessTable,
}

/// Forgets when a record's file was made and put in its place: only its write has a time that can be given.
pub(crate) fn forget_placing(record: &mut Arc<Record>) {
    let record = Arc::make_mut(record);
    (record.changed_at, record.made_at) = (None, None);
}
