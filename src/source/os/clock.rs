//! The one place where the clock is read.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// By how many seconds [`now`] differs from the machine's clock.
static SET_BY: AtomicI64 = AtomicI64::new(0);

/// By how many seconds [`lasting`] is ahead of the machine's clock.
static PASSED: AtomicU64 = AtomicU64::new(0);

/// Returns the present moment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    now.checked_add(SignedDuration::from_secs(SET_BY.load(Ordering::Relaxed))).unwrap_or(now)
}

/// Returns this person's time zone: that of `TZ`, else the machine's.
pub(crate) fn zone() -> TimeZone {
    TimeZone::system()
}

/// Sets the clock, for this program alone: a test cannot set the machine's.
pub fn set_by(seconds: i64) {
    SET_BY.store(seconds, Ordering::Relaxed);
}

/// Returns the present moment of a clock that nobody can set; good for waiting.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn steady() -> std::time::Instant {
    std::time::Instant::now()
}

/// Returns the moment of a clock that nobody can set and that goes on while the machine is suspended.
pub(crate) fn lasting() -> std::time::Duration {
    let up = since_boot().and_then(|up| std::time::Duration::try_from(up).ok()).unwrap_or_default();
    up + std::time::Duration::from_secs(PASSED.load(Ordering::Relaxed))
}

/// Lets so many seconds pass by the clock that lasts, for this program alone: a test need not wait for them.
pub fn let_pass(seconds: u64) {
    PASSED.store(seconds, Ordering::Relaxed);
}

/// Returns the CPU time that this thread has spent so far.
pub(crate) fn spent() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}

/// Returns the processor time that all threads of this process have taken.
pub(crate) fn spent_by_all() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.try_into().unwrap_or_default()
}

/// Returns how long the machine has been up, suspended time included: the clock in which the
/// kernel counts the starts of processes (proc(5), `starttime`).
#[cfg(target_os = "linux")]
pub(crate) fn since_boot() -> Option<SignedDuration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Some(SignedDuration::new(time.tv_sec, i32::try_from(time.tv_nsec).ok()?))
}

/// Returns how long the machine has been up, time asleep included (clock_gettime(3) of macOS).
#[cfg(target_os = "macos")]
pub(crate) fn since_boot() -> Option<SignedDuration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Some(SignedDuration::new(time.tv_sec, i32::try_from(time.tv_nsec).ok()?))
}

/// Returns how long the machine has been up.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn since_boot() -> Option<SignedDuration> {
    Some(SignedDuration::from_secs(i64::try_from(sysinfo::System::uptime().ok()?).ok()?))
}
