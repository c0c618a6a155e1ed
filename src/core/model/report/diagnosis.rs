//! What claimtop knows of itself: what it watches, what that costs, and where its bounds are.

use std::time::Duration;

/// What is waited for, so that changes are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchCounts {
    /// How many folders are watched for changes.
    pub folders: usize,
    /// How many folders should be watched and are not.
    pub(crate) refused: usize,
    /// How many processes are waited for by their pidfds.
    pub processes: usize,
}

/// What the last look was like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookStats {
    /// How many looks there have been.
    pub(crate) looks: u64,
    /// How long the last one took, reading and judging.
    pub(crate) took: Duration,
    /// What is watched since then.
    pub(crate) watched: WatchCounts,
}

/// What our own process costs, as the kernel counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Its PID.
    pub(crate) pid: u32,
    /// How long it has been running.
    pub(crate) age: Duration,
    /// How long it has computed, in all threads, for itself and in the kernel.
    pub(crate) cpu: Duration,
    /// Its memory in use, in bytes.
    pub(crate) resident: u64,
    /// The most that this ever was, in bytes.
    pub(crate) peak: u64,
    /// How many files, folders, sockets and processes it holds open.
    pub(crate) descriptors: usize,
    /// How many it may hold open; `None` for any number.
    pub(crate) descriptor_limit: Option<u64>,
    /// How many threads it has.
    pub(crate) threads: u64,
    /// How often its first thread went to sleep, and so was woken.
    pub(crate) wakeups: u64,
    /// How many lines of its log the disk has refused.
    pub(crate) lost_lines: u64,
}

/// A bound that keeps anything from growing without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is bounded.
    pub(crate) what: &'static str,
    /// By how much, for people.
    pub(crate) most: String,
}
