//! A machine at one moment that is laid down and not read, so that files which agents have written can be looked at as
//! they were, anywhere.

use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{Host, ProcessTable, Record};

/// What a look takes for the machine instead of reading it.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The present moment.
    pub now: Timestamp,
    /// The machine.
    pub host: Host,
    /// Its processes. As more is asked of the system about a PID, they should have none that is likely taken.
    pub processes: ProcessTable,
}

/// Forgets when a record's file was made and put where it is: its write alone has a time that can be laid down.
pub(crate) fn forget_placing(record: &mut Arc<Record>) {
    let record = Arc::make_mut(record);
    (record.changed_at, record.made_at) = (None, None);
}
