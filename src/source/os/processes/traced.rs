//! The outcome of reading the traces in a process of the window that started it.

use crate::core::model::Trace;

/// The reading of one process.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells"))]
pub(crate) enum TraceReading {
    Read(Box<Trace>),
    /// It is another user's, or of another home, or may not be read.
    Unread,
    /// It has exited, and another may have its PID.
    Gone,
}
