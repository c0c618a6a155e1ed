//! Records of processes that were proven dead.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::core::model::{Evidence, Host, Numbering, ProcessId, Reason, Untrusted};

/// The most tombstones that are kept; the oldest are forgotten first.
pub(crate) const MAX_TOMBSTONES: usize = 4_096;

/// One process that was proven dead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// PID and start, by which tombstones are sorted.
    #[serde(flatten)]
    pub id: ProcessId,
    /// The inode of its pidfd, if known.
    pub pidfd_inode: Option<u64>,
    /// The host name.
    pub host: Untrusted,
    /// The boot ID.
    pub boot_id: Untrusted,
    /// The inode of the PID namespace that the PID counts in.
    pub pid_namespace: u64,
    /// The inode of the time namespace that the start counts in.
    pub time_namespace: u64,
    /// The last session it ran, as named by a record or a note.
    pub session_id: Option<Untrusted>,
    /// The last name of its window, if a claimtop was open then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Untrusted>,
    /// When it was last seen alive, if a claimtop was open then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_alive_at: Option<Timestamp>,
    /// When its death was first proven.
    pub proven_at: Timestamp,
    /// The same in clock ticks since the boot, as starts are counted: setting the clock does not move it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven_tick: Option<u64>,
    /// How it was proven.
    pub reason: Reason,
}

impl Tombstone {
    /// Returns whether its numbers count on the observer's host.
    pub(crate) fn counts_on(&self, host: &Host) -> bool {
        self.numbering().is_of(host)
    }

    fn numbering(&self) -> Numbering<'_> {
        Numbering {
            boot_id: self.boot_id.raw(),
            pid_namespace: self.pid_namespace,
            time_namespace: self.time_namespace,
            host: self.host.raw(),
        }
    }

    /// Returns how long ago its death was proven; falls back to wall clocks if that look did not count ticks.
    pub(crate) fn dead_for(&self, host: &Host, now: Timestamp) -> SignedDuration {
        let since = |tick| host.wall_clock(tick).map(|proven| now.duration_since(proven));
        // A process cannot be dead before it starts.
        let tick = self.proven_tick.filter(|tick| *tick >= self.id.start_ticks);
        tick.and_then(since).unwrap_or_else(|| now.duration_since(self.proven_at))
    }

    pub(crate) fn evidence(&self) -> Evidence {
        let value = format!(
            "PID {} with start tick {} was proven dead: {}",
            self.id.pid,
            self.id.start_ticks,
            self.reason.name()
        );
        Evidence::new("tombstone", value, "claimtop's own notes").dated(self.proven_at)
    }
}

/// Merges two sets of tombstones, sorted. Of two for one process the older stays, completed from the other.
pub fn merged(mut all: Vec<Tombstone>, learnt: &[Tombstone]) -> Vec<Tombstone> {
    all.extend_from_slice(learnt);
    all.sort_by(|one, other| key(one).cmp(&key(other)).then(one.proven_at.cmp(&other.proven_at)));
    all.dedup_by(|later, kept| {
        let is_same = key(later) == key(kept);
        if is_same {
            kept.session_id = kept.session_id.take().or(later.session_id.take());
            kept.name = kept.name.take().or(later.name.take());
            kept.seen_alive_at = kept.seen_alive_at.or(later.seen_alive_at);
        }
        is_same
    });
    if all.len() > MAX_TOMBSTONES {
        all.sort_by_key(|stone| std::cmp::Reverse(stone.proven_at));
        all.truncate(MAX_TOMBSTONES);
        all.sort_by(|one, other| key(one).cmp(&key(other)));
    }
    all
}

/// Returns the identity that distinguishes a process from all others.
pub(crate) fn key(stone: &Tombstone) -> (ProcessId, Numbering<'_>) {
    (stone.id, stone.numbering())
}
