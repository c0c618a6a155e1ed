//! What changes about a process while it runs the same program.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{InputEnd, ProcessId, Trace};
use crate::source::os::processes::measure::Measure;
use crate::source::os::processes::{inputs, measures};

/// How long a measurement counts. What acts, and whoever opens the evidence, measures anew.
const LASTS: SignedDuration = SignedDuration::from_secs(30);
/// How long it counts who is at the other end of an input: whoever is gone does not come back.
const INPUTS_LAST: SignedDuration = SignedDuration::from_secs(90);
/// How many old measurements a look repeats, the oldest first: at least so many, and at most this part of
/// all. To add up the pages of a process alone takes as long as to read ten others in a look.
const FEWEST: usize = 2;
const PART: usize = 10;

/// What was measured last.
#[derive(Default)]
pub(super) struct Measured {
    known: BTreeMap<ProcessId, (Timestamp, Measure)>,
    /// Of those that nobody stands above.
    inputs: BTreeMap<ProcessId, InputEnd>,
    inputs_read_at: Option<Timestamp>,
}

impl Measured {
    /// Measures the new ones among these processes, and a few whose figures are old; all of those where a
    /// person looks at them.
    pub(super) fn refresh(
        &mut self,
        (those, tops): (&BTreeSet<ProcessId>, &[ProcessId]),
        uid: u32,
        is_shown: bool,
        now: Timestamp,
    ) {
        self.known.retain(|id, _| those.contains(id));
        let is_any_new = tops.iter().any(|id| !self.known.contains_key(id));
        let are_old = |at: Timestamp| is_over(at, INPUTS_LAST, now);
        let asks = is_any_new || self.inputs_read_at.is_none_or(are_old);
        if asks {
            self.inputs = inputs(tops, uid);
            self.inputs_read_at = Some(now);
        }
        let mut due: Vec<ProcessId> =
            those.iter().filter(|id| !self.known.contains_key(id)).copied().collect();
        due.extend(match (is_shown, asks) {
            (true, _) => self.old(now, usize::MAX),
            // One look does not do both.
            (false, true) => Vec::new(),
            (false, false) => self.old(now, FEWEST.max(those.len() / PART)),
        });
        let mut found = measures(&due);
        self.known.extend(due.into_iter().map(|id| (id, (now, found.remove(&id).unwrap_or_default()))));
    }

    /// Returns whose turn it is to be measured again, at most so many.
    fn old(&self, now: Timestamp, most: usize) -> Vec<ProcessId> {
        let old = self.known.iter().filter(|(_, (at, _))| is_over(*at, LASTS, now));
        let mut old: Vec<(Timestamp, ProcessId)> = old.map(|(id, (at, _))| (*at, *id)).collect();
        old.sort_unstable();
        old.truncate(most);
        old.into_iter().map(|(_, id)| id).collect()
    }

    /// Adds what was measured.
    pub(super) fn fill(&self, trace: &mut Trace) {
        trace.input = self.inputs.get(&trace.id).copied();
        let Some((_, Measure { load, ports, hindrance })) = self.known.get(&trace.id) else { return };
        (trace.memory, trace.cpu_time) = (load.memory, load.cpu_time);
        trace.hindrance.clone_from(hindrance);
        trace.ports = ports.clone().unwrap_or_default();
    }
}

/// Returns whether a time has passed since; also when the clock was set back.
fn is_over(at: Timestamp, time: SignedDuration, now: Timestamp) -> bool {
    now.duration_since(at).abs() >= time
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_repeats_few_measurements_and_the_oldest_first() {
        // Nobody has these numbers, so nothing is found; whose turn it is does not depend on that.
        let those: BTreeSet<ProcessId> =
            (0..40).map(|at| ProcessId { pid: u32::MAX - at, start_ticks: u64::from(at) }).collect();
        let mut measured = Measured::default();
        let mut look = |after: i64, is_shown: bool| {
            let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(after);
            measured.refresh((&those, &[]), 0, is_shown, now);
            let is_now = |(at, _): &&(Timestamp, Measure)| *at == now;
            let oldest = measured.known.values().map(|(at, _)| *at).min().unwrap();
            (measured.known.values().filter(is_now).count(), oldest.as_second())
        };
        assert_eq!(look(0, false), (40, 0), "all are new");
        assert_eq!(look(29, false), (0, 0));
        for after in 30..39 {
            assert_eq!(look(after, false), (4, 0));
        }
        assert_eq!(look(39, false), (4, 30), "each had its turn");
        assert_eq!(look(60, false), (4, 31));
        assert_eq!(look(90, false), (0, 31), "that look asks who is at their inputs");
        assert_eq!(look(91, false), (4, 32));
        assert_eq!(look(92, true).0, 36, "all that is older than 30 s");
    }
}
