//! Our own process.

/// Returns our own PID.
pub(crate) fn own_pid() -> u32 {
    std::process::id()
}
