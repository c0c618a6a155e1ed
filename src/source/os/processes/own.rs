//! Our own process.

pub(crate) fn own_pid() -> u32 {
    std::process::id()
}

/// Has the kernel kill this process, and what it becomes by exec(2), when the thread that started it ends: also one
/// that would ignore the end of its input (`PR_SET_PDEATHSIG` of prctl(2)). Elsewhere than on Linux it does nothing.
pub(crate) fn end_with_parent() {
    #[cfg(target_os = "linux")]
    // Where the system refuses, its input ends all the same.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}
