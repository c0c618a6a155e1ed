//! The machine that was looked at: its boot, clocks and namespaces.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::core::model::ClockHistory;

/// What kind of system a machine runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Linux: starts are clock ticks since the boot.
    #[default]
    Linux,
    /// macOS: starts are microseconds since 1970 by the clock at that time, and there is one PID namespace, which
    /// counts as the initial one.
    MacOs,
    /// Another one: starts are seconds since the boot.
    Other,
}

impl Platform {
    /// Returns whether it is Linux, which recordings omit.
    pub(crate) fn is_linux(&self) -> bool {
        *self == Self::Linux
    }
}

/// The boot and namespaces in which process numbers count, sorted by boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbering<'a> {
    pub(crate) boot_id: &'a str,
    pub(crate) pid_namespace: u64,
    pub(crate) time_namespace: u64,
    pub(crate) host: &'a str,
}

impl Numbering<'_> {
    /// Returns whether an observer on `host` counts the same way.
    pub(crate) fn is_of(self, host: &Host) -> bool {
        host.boot_id.as_deref() == Some(self.boot_id)
            && host.pid_namespace == Some(self.pid_namespace)
            && host.time_namespace == Some(self.time_namespace)
            && host.name == self.host
    }
}

/// The machine and the observer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    /// The host name.
    pub name: String,
    /// What kind of system it runs.
    #[serde(default, skip_serializing_if = "Platform::is_linux")]
    pub platform: Platform,
    /// The boot ID (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: Option<String>,
    /// The inode of claimtop's own PID namespace.
    pub pid_namespace: Option<u64>,
    /// The machine ID (`/etc/machine-id`; machine-id(5)). Machines that were cloned share it.
    #[serde(default)]
    pub machine_id: Option<String>,
    /// The inode of claimtop's own time namespace; the initial one's if the kernel has none.
    #[serde(default = "initial_time_namespace")]
    pub time_namespace: Option<u64>,
    /// When the machine booted, by the current wall clock: it moves when the clock is set. In another time namespace
    /// than the initial one it is when that namespace began to count, and not the boot.
    pub boot_at: Option<Timestamp>,
    /// A moment at which this boot was certainly under way, by the clock at that time. A virtual machine that was
    /// suspended does not count that time as up, and so seems to have booted later than it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_by: Option<Timestamp>,
    /// The readings of the wall clock during this boot, as far as they are known.
    #[serde(default, skip_serializing_if = "ClockHistory::is_empty")]
    pub clock: ClockHistory,
    /// The total by which the wall clock was seen to be set: a start by today's clock and a file time by an earlier
    /// one can differ by that much.
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

/// The value that recordings of claimtop 0.1 assume.
#[expect(clippy::unnecessary_wraps, reason = "serde asks for the field's type")]
pub(crate) fn initial_time_namespace() -> Option<u64> {
    Some(INITIAL_TIME_NAMESPACE)
}

impl Host {
    /// Converts a start in ticks to wall-clock time. Use it for display and for comparison with file times, never as
    /// an identity.
    pub fn wall_clock(&self, start_ticks: u64) -> Option<Timestamp> {
        let passed = self.up_for(start_ticks)?;
        let zero = match self.platform {
            Platform::Linux | Platform::Other => self.boot_at?,
            Platform::MacOs => Timestamp::UNIX_EPOCH,
        };
        zero.checked_add(passed).ok()
    }

    /// Returns how long the machine had been up when a process started.
    pub(crate) fn up_for(&self, start_ticks: u64) -> Option<SignedDuration> {
        let micros = u128::from(start_ticks) * 1_000_000 / u128::from(self.ticks_per_second.max(1));
        Some(SignedDuration::from_micros(i64::try_from(micros).ok()?))
    }

    /// Returns the tick of a moment, as starts are counted since the boot; `None` if they are not counted so, or the
    /// clock was set during a look.
    pub(crate) fn tick_of(&self, moment: Timestamp) -> Option<u64> {
        let is_sure = self.platform != Platform::MacOs && self.clock_doubt.is_zero();
        let up_for = moment.duration_since(self.boot_at.filter(|_| is_sure)?);
        let ticks = up_for.as_millis() * i128::from(self.ticks_per_second) / 1_000;
        u64::try_from(ticks).ok()
    }

    /// Returns whether the tick of a start was over by a moment, with the possible difference between two clock
    /// readings allowed for: any later process with that PID then starts at a later tick.
    pub(crate) fn is_past(&self, start_ticks: u64, moment: Timestamp) -> bool {
        self.wall_clock(start_ticks.saturating_add(2)).is_some_and(|over| over <= moment)
    }

    /// Returns in words when a process started, as exactly as the system counts it.
    pub(crate) fn start_words(&self, start_ticks: u64) -> String {
        match self.wall_clock(start_ticks).filter(|_| self.platform == Platform::MacOs) {
            Some(started) => started.to_string(),
            None => format!("tick {start_ticks}"),
        }
    }

    /// Returns the place where a process's start was read.
    pub(crate) fn process_source(&self, pid: u32) -> String {
        match self.platform {
            Platform::Linux => format!("/proc/{pid}/stat"),
            Platform::MacOs => format!("libproc, PID {pid}"),
            Platform::Other => format!("sysinfo, PID {pid}"),
        }
    }

    /// Returns the latest time at which the machine can have booted, by the current clock or by the one at that time.
    /// Not known in another time namespace, nor in a container that does not see the machine's device folder: the
    /// current clock may have been set since.
    pub(crate) fn booted_by(&self) -> Option<Timestamp> {
        let is_seen = self.pid_namespace == Some(INITIAL_PID_NAMESPACE) || self.up_by.is_some();
        let counts_here = self.time_namespace == Some(INITIAL_TIME_NAMESPACE);
        let boot_at = self.boot_at.filter(|_| is_seen && counts_here)?;
        Some(self.up_by.map_or(boot_at, |up_by| up_by.min(boot_at)))
    }
}
