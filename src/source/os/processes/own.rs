//! Our own process.

/// Returns our own PID.
pub fn own_pid() -> u32 {
    std::process::id()
}

/// Returns the PID of our parent; `None` when it is outside our PID namespace.
pub fn parent_pid() -> Option<u32> {
    u32::try_from(rustix::process::getppid()?.as_raw_nonzero().get()).ok()
}
