//! Claimtop's own diagnosis: what it watches, what that costs, and its limits.

use std::time::Duration;

/// What is watched so that changes are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchCounts {
    /// How many folders are watched for changes.
    pub folders: usize,
    /// How many folders should be watched but are not.
    pub(crate) refused: usize,
    /// How many processes are watched by their pidfds.
    pub processes: usize,
}

/// Statistics of the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookStats {
    /// How many looks there have been.
    pub(crate) looks: u64,
    /// How long the last one took, reading and judging.
    pub(crate) took: Duration,
    /// What is watched since then.
    pub(crate) watched: WatchCounts,
}

/// The cost of our own process, as the kernel counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Its PID.
    pub(crate) pid: u32,
    /// How long it has been running.
    pub(crate) age: Duration,
    /// The CPU time of all its threads, its own and in the kernel.
    pub(crate) cpu: Duration,
    /// Its memory in use, in bytes.
    pub(crate) resident: u64,
    /// The most that it ever used, in bytes.
    pub(crate) peak: u64,
    /// How many files, folders, sockets and processes it holds open.
    pub(crate) descriptors: usize,
    /// How many it may hold open; `None` if unlimited.
    pub(crate) descriptor_limit: Option<u64>,
    /// How many threads it has.
    pub(crate) threads: u64,
    /// How often its first thread went to sleep, and so was woken up.
    pub(crate) wakeups: u64,
    /// How many lines of its log could not be written to the disk.
    pub(crate) lost_lines: u64,
}

/// A limit that keeps anything from growing without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is limited.
    pub(crate) what: &'static str,
    /// The limit, for people.
    pub(crate) most: String,
}
