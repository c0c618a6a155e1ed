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
    /// macOS: starts are microseconds since 1970 by the clock of then, and there is one PID namespace, which
    /// counts as the initial one.
    MacOs,
    /// Another one: starts are seconds since the boot.
    Other,
}

impl Platform {
    /// Returns whether it is what recordings do not repeat.
    pub(crate) fn is_linux(&self) -> bool {
        *self == Self::Linux
    }
}

/// Where the numbers of processes count, sorted by boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbering<'a> {
    pub(crate) boot_id: &'a str,
    pub(crate) pid_namespace: u64,
    pub(crate) time_namespace: u64,
    pub(crate) host: &'a str,
}

impl Numbering<'_> {
    /// Returns whether somebody who looks counts alike.
    pub(crate) fn is_of(self, host: &Host) -> bool {
        host.boot_id.as_deref() == Some(self.boot_id)
            && host.pid_namespace == Some(self.pid_namespace)
            && host.time_namespace == Some(self.time_namespace)
            && host.name == self.host
    }
}

/// The machine and the looker.
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
    /// The inode of claimtop's own time namespace; the initial one's where the kernel has none.
    #[serde(default = "initial_time_namespace")]
    pub time_namespace: Option<u64>,
    /// When the machine booted, by the wall clock of now: it moves when the clock is set. In another
    /// time namespace than the initial one it is when that began to count, and not the boot.
    pub boot_at: Option<Timestamp>,
    /// A moment at which this boot was certainly under way, by the clock of then. A virtual machine that was
    /// suspended does not count that time as up, and so seems to have booted later than it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_by: Option<Timestamp>,
    /// What the wall clock said in the course of this boot, as far as it is known.
    #[serde(default, skip_serializing_if = "ClockHistory::is_empty")]
    pub clock: ClockHistory,
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
    /// Converts a start in ticks to wall-clock time. Good for showing and for comparing with file
    /// times; never an identity.
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

    /// Returns the tick of a moment, as starts are counted since the boot; nothing where they are not, or the clock was
    /// set while a look was under way.
    pub(crate) fn tick_of(&self, moment: Timestamp) -> Option<u64> {
        let is_sure = self.platform != Platform::MacOs && self.clock_doubt.is_zero();
        let up_for = moment.duration_since(self.boot_at.filter(|_| is_sure)?);
        let ticks = up_for.as_millis() * i128::from(self.ticks_per_second) / 1_000;
        u64::try_from(ticks).ok()
    }

    /// Returns whether the tick of a start was over by a moment, whatever two readings of the clock may differ by:
    /// then whoever gets that PID later starts at a later tick.
    pub(crate) fn is_past(&self, start_ticks: u64, moment: Timestamp) -> bool {
        self.wall_clock(start_ticks.saturating_add(2)).is_some_and(|over| over <= moment)
    }

    /// Says in words when a process started, as exactly as the system counts it.
    pub(crate) fn start_words(&self, start_ticks: u64) -> String {
        match self.wall_clock(start_ticks).filter(|_| self.platform == Platform::MacOs) {
            Some(started) => started.to_string(),
            None => format!("tick {start_ticks}"),
        }
    }

    /// Says where a process's start was read.
    pub(crate) fn process_source(&self, pid: u32) -> String {
        match self.platform {
            Platform::Linux => format!("/proc/{pid}/stat"),
            Platform::MacOs => format!("libproc, PID {pid}"),
            Platform::Other => format!("sysinfo, PID {pid}"),
        }
    }

    /// Returns when the machine booted at the latest, by the clock of now or of then. In another time namespace nobody knows;
    /// nor does a container that does not see the devices' folder of the machine: the clock of now may have been set since.
    pub(crate) fn booted_by(&self) -> Option<Timestamp> {
        let is_seen = self.pid_namespace == Some(INITIAL_PID_NAMESPACE) || self.up_by.is_some();
        let counts_here = self.time_namespace == Some(INITIAL_TIME_NAMESPACE);
        let boot_at = self.boot_at.filter(|_| is_seen && counts_here)?;
        Some(self.up_by.map_or(boot_at, |up_by| up_by.min(boot_at)))
    }
}
