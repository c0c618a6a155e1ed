//! The one place where the clock is read.

use std::ffi::OsStr;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rustix::fs::{FileType, stat};

use crate::source::os::open::meta::wide;

/// How many seconds [`now`] differs from the machine's clock.
static SET_BY: AtomicI64 = AtomicI64::new(0);

/// How many seconds [`lasting`] is ahead of the machine's clock.
static PASSED: AtomicU64 = AtomicU64::new(0);

/// Returns the present moment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    now.checked_add(SignedDuration::from_secs(SET_BY.load(Ordering::Relaxed))).unwrap_or(now)
}

/// Returns this person's time zone: that of `TZ`, else the machine's. It is unknown if `TZ` is the path of something
/// other than a small plain file: reading that could take forever.
#[expect(clippy::disallowed_methods, reason = "what TZ names is looked at before it is opened")]
pub(crate) fn zone() -> TimeZone {
    let named = std::env::var_os("TZ");
    if named.is_some_and(|named| !may_be_read(&named)) { TimeZone::unknown() } else { TimeZone::system() }
}

/// The most bytes of a file that describes a time zone (tzfile(5)): the largest has some 4 KiB.
const MAX_ZONE: u64 = 1 << 20;

/// Returns whether a value of `TZ` (tzset(3)) is a rule, the name of a zone, or a path that can be read.
fn may_be_read(named: &OsStr) -> bool {
    let Some(text) = named.to_str() else { return true };
    let path = text.strip_prefix(':').unwrap_or(text);
    if TimeZone::posix(text).is_ok() || TimeZone::get(path).is_ok() {
        return true;
    }
    stat(path).map_or(true, |stat| {
        let is_plain = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_plain && wide(stat.st_size) <= MAX_ZONE
    })
}

/// Sets the clock, for this program alone: a test cannot set the machine's.
pub fn set_by(seconds: i64) {
    SET_BY.store(seconds, Ordering::Relaxed);
}

/// Returns the present moment of a clock that cannot be set; good for waiting.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn steady() -> std::time::Instant {
    std::time::Instant::now()
}

/// Returns the moment of a clock that cannot be set and that keeps running while the machine is suspended.
pub(crate) fn lasting() -> std::time::Duration {
    let up = since_boot().and_then(|up| std::time::Duration::try_from(up).ok()).unwrap_or_default();
    up + std::time::Duration::from_secs(PASSED.load(Ordering::Relaxed))
}

/// Moves the lasting clock forward by some seconds, for this program alone, so that a test need not wait.
pub fn let_pass(seconds: u64) {
    PASSED.store(seconds, Ordering::Relaxed);
}

/// Returns the CPU time that this thread has used.
pub(crate) fn spent() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}

/// Returns the CPU time that all threads of this process have used.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(named: &str, expected: bool) {
        assert_eq!(may_be_read(OsStr::new(named)), expected, "{named}");
    }

    #[test]
    fn only_a_small_plain_file_is_read_as_a_time_zone() {
        for named in ["UTC", ":UTC", "EST5EDT,M3.2.0,M11.1.0", "garbage", ":/no/such/zone", "/etc/hostname"] {
            check(named, true);
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::fs::File::create_new(at("large")).unwrap().set_len(MAX_ZONE + 1).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("link")).unwrap();
        for named in ["/dev/zero", "/", &at("socket"), &at("large"), &at("link")] {
            check(named, false);
            check(&format!(":{named}"), false);
        }
    }
}
