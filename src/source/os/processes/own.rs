//! Our own process.

pub(crate) fn own_pid() -> u32 {
    std::process::id()
}
