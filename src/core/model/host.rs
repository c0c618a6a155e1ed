//! The machine that was looked at: its boot, clocks and namespaces.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The machine and the looker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    /// The host name.
    pub name: String,
    /// The boot ID (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: Option<String>,
    /// The inode of claimtop's own PID namespace.
    pub pid_namespace: Option<u64>,
    /// The machine ID (`/etc/machine-id`; machine-id(5)). Machines that were cloned share it.
    #[serde(default)]
    pub machine_id: Option<String>,
    /// The inode of claimtop's own time namespace; the initial one's where the kernel has none.
    #[serde(default = "initial_time_namespace")]
    pub time_namespace: Option<u64>,
    /// When the machine booted, by the wall clock of now: it moves when the clock is set. In another
    /// time namespace than the initial one it is when that began to count, and not the boot.
    pub boot_at: Option<Timestamp>,
    /// By how much the wall clock was seen to be set, in all: a start by today's clock and a file
    /// time by an earlier one are that far from being comparable.
    pub clock_doubt: SignedDuration,
    /// Clock ticks per second.
    pub ticks_per_second: u64,
    /// The effective user of claimtop.
    pub uid: u32,
    /// The zone in which naive local times are read.
    #[serde(with = "jiff::fmt::serde::tz::required")]
    pub zone: TimeZone,
}

/// The inode of the initial PID namespace (`PROC_PID_INIT_INO` of the kernel).
pub const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

/// The inode of the initial time namespace (`PROC_TIME_INIT_INO` of the kernel).
pub const INITIAL_TIME_NAMESPACE: u64 = 0xEFFF_FFFA;

/// What recordings of claimtop 0.1 took for granted.
#[expect(clippy::unnecessary_wraps, reason = "serde asks for the field's type")]
pub(crate) fn initial_time_namespace() -> Option<u64> {
    Some(INITIAL_TIME_NAMESPACE)
}

impl Host {
    /// Converts a start in ticks since boot to wall-clock time. Good for showing and for
    /// comparing with file times; never an identity.
    pub fn wall_clock(&self, start_ticks: u64) -> Option<Timestamp> {
        let millis = u128::from(start_ticks) * 1_000 / u128::from(self.ticks_per_second.max(1));
        let since_boot = SignedDuration::from_millis(i64::try_from(millis).ok()?);
        self.boot_at?.checked_add(since_boot).ok()
    }
}
