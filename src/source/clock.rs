//! The one place where the clock is read.

use jiff::{SignedDuration, Timestamp};

/// Returns the present moment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns the present moment of a clock that nobody can set; good for waiting.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn steady() -> std::time::Instant {
    std::time::Instant::now()
}

/// Returns how long the machine has been up, suspended time included: the clock in which the
/// kernel counts the starts of processes (proc(5), `starttime`).
#[cfg(target_os = "linux")]
pub fn since_boot() -> Option<SignedDuration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Some(SignedDuration::new(time.tv_sec, i32::try_from(time.tv_nsec).ok()?))
}

/// Returns how long the machine has been up.
#[cfg(not(target_os = "linux"))]
pub fn since_boot() -> Option<SignedDuration> {
    Some(SignedDuration::from_secs(i64::try_from(sysinfo::System::uptime().ok()?).ok()?))
}
