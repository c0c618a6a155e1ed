//! A process that was seen below a window, kept after that window has ended.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::{Host, Numbering, ProcessId, SeenBelow, Untrusted};

/// The most processes to keep for one window: the youngest ones.
pub const MAX_OF_WINDOW: usize = 256;

/// The most to keep in total: those of the windows that ended last.
pub(crate) const MAX_DESCENTS: usize = 4_096;

/// The most agents above one process. A process with more is not kept at all, because an agent left out may be alive.
pub(crate) const MAX_ABOVE: usize = 16;

/// One process that was seen below a window and was alive when that window was proven dead.
///
/// Its PID and its start identify it for the boot: it was seen after the tick of its start was over, so any later
/// process with its PID has a later start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descent {
    /// PID and start, by which descents are sorted.
    #[serde(flatten)]
    pub id: ProcessId,
    /// The host name.
    pub host: Untrusted,
    /// The boot ID.
    pub boot_id: Untrusted,
    /// The inode of the PID namespace that the PIDs count in.
    pub pid_namespace: u64,
    /// The inode of the time namespace that the starts count in.
    pub time_namespace: u64,
    /// The agents below which it was seen, the nearest first.
    pub below: Vec<SeenBelow>,
    /// When the nearest of them was proven dead.
    pub kept_at: Timestamp,
}

impl Descent {
    /// Returns whether its numbers count on the observer's host.
    pub fn counts_on(&self, host: &Host) -> bool {
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

    /// Returns whether it contains everything that another one states about the same process.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        key(self) == key(other) && other.below.iter().all(|seen| self.has(seen))
    }

    fn has(&self, seen: &SeenBelow) -> bool {
        self.below.iter().any(|known| known.id == seen.id)
    }

    /// Returns the nearest agent above it.
    fn window(&self) -> Option<ProcessId> {
        self.below.first().map(|seen| seen.id)
    }
}

/// Merges two sets of descents, sorted: two for one process become one that names all agents above it. The oldest
/// processes of a window with too many are left out, and so are the windows that ended first.
pub fn merged(mut all: Vec<Descent>, learnt: &[Descent]) -> Vec<Descent> {
    all.extend_from_slice(learnt);
    all.sort_by(|one, other| key(one).cmp(&key(other)).then(one.kept_at.cmp(&other.kept_at)));
    all.dedup_by(|later, kept| {
        let is_same = key(later) == key(kept);
        if is_same {
            let new: Vec<SeenBelow> = later.below.drain(..).filter(|seen| !kept.has(seen)).collect();
            kept.below.extend(new);
        }
        is_same
    });
    all.retain(|one| one.below.len() <= MAX_ABOVE);
    all.sort_by_key(|one| std::cmp::Reverse((one.kept_at, one.id.start_ticks)));
    let mut of_window: BTreeMap<Option<ProcessId>, usize> = BTreeMap::new();
    all.retain(|one| {
        let count = of_window.entry(one.window()).or_default();
        *count += 1;
        *count <= MAX_OF_WINDOW
    });
    all.truncate(MAX_DESCENTS);
    all.sort_by(|one, other| key(one).cmp(&key(other)));
    all
}

/// Returns the identity that distinguishes a process from all others.
fn key(one: &Descent) -> (ProcessId, Numbering<'_>) {
    (one.id, one.numbering())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(pid: u32) -> SeenBelow {
        SeenBelow { id: ProcessId { pid, start_ticks: 1 }, agent: "claude-code".into() }
    }

    fn descent(pid: u32, above: &[u32], second: i64) -> Descent {
        Descent {
            id: ProcessId { pid, start_ticks: u64::from(pid) },
            host: "vm".into(),
            boot_id: "0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b".into(),
            pid_namespace: 4_026_531_836,
            time_namespace: 4_026_531_834,
            below: above.iter().map(|pid| agent(*pid)).collect(),
            kept_at: Timestamp::from_second(second).unwrap(),
        }
    }

    fn pids(all: &[Descent]) -> Vec<u32> {
        all.iter().map(|one| one.id.pid).collect()
    }

    #[test]
    fn two_about_one_process_become_one_that_names_all_agents_above_it() {
        let all = merged(vec![descent(70, &[7], 10)], &[descent(70, &[7, 5], 20), descent(60, &[7], 20)]);
        assert_eq!(all, [descent(60, &[7], 20), descent(70, &[7, 5], 10)]);
        let covers = |one: &Descent, other: &Descent| one.covers(other);
        assert!(covers(&descent(70, &[7, 5], 10), &descent(70, &[5], 20)));
        assert!(!covers(&descent(70, &[5], 10), &descent(70, &[7, 5], 20)));
        let elsewhere = Descent { pid_namespace: 1, ..descent(70, &[7], 20) };
        assert!(!covers(&descent(70, &[7], 10), &elsewhere));
        assert_eq!(merged(vec![descent(70, &[7], 10)], &[elsewhere]).len(), 2);
    }

    #[test]
    fn the_youngest_of_a_window_stay_and_other_windows_lose_none() {
        let many = u32::try_from(MAX_OF_WINDOW).unwrap() + 10;
        let of_one = (1_000..1_000 + many).map(|pid| descent(pid, &[7], 10));
        let kept = merged(of_one.chain([descent(900, &[8], 10)]).collect(), &[]);
        assert_eq!((kept.len(), pids(&kept)[..2].to_vec()), (MAX_OF_WINDOW + 1, vec![900, 1_010]));
    }

    #[test]
    fn the_windows_that_ended_last_stay() {
        let window = |at: u32| (0..200).map(move |of| descent(1_000 * at + of, &[at], i64::from(at)));
        let kept = merged((1..31).flat_map(window).collect(), &[]);
        assert_eq!(kept.len(), MAX_DESCENTS);
        assert!(kept.is_sorted_by_key(|one| one.id));
        assert_eq!(kept.first().unwrap().below, [agent(10)], "of the tenth in part, of the later ones all");
        assert_eq!(kept.iter().filter(|one| one.below == [agent(10)]).count(), MAX_DESCENTS % 200);
    }

    #[test]
    fn whoever_has_too_many_agents_above_it_is_not_kept() {
        let above: Vec<u32> = (1..=u32::try_from(MAX_ABOVE).unwrap()).collect();
        assert_eq!(merged(vec![descent(70, &above, 10)], &[]).len(), 1);
        assert!(merged(vec![descent(70, &above, 10)], &[descent(70, &[99], 20)]).is_empty());
    }

    #[test]
    fn a_descent_is_written_and_read_as_one_flat_line() {
        let line = crate::core::model::text::json::to_line(&descent(70, &[7], 10)).unwrap();
        assert!(line.starts_with(r#"{"pid":70,"start_ticks":70,"host":"#), "{line}");
        assert_eq!(serde_json::from_str::<Descent>(&line).unwrap(), descent(70, &[7], 10));
    }
}
