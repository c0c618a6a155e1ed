//! How it went to read what a process bears of the window that started it.

use crate::core::model::Trace;

/// What was read of one process.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells"))]
pub(crate) enum TraceReading {
    Read(Box<Trace>),
    /// It is another user's, or of another home, or may not be read.
    Unread,
    /// It has exited, and another may have its PID.
    Gone,
}
