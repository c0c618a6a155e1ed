//! Clock ticks.

/// Returns the ticks per second in which the kernel states start times (`sysconf(_SC_CLK_TCK)`).
pub(crate) fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}
