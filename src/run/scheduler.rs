//! When to scan: at once after a death or when asked, soon after files change, and now and then in
//! case no hint comes.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::core::model::ProcessId;
use crate::observe::ReportSource;
use crate::observe::watch::notice::Hint;
use crate::source::os::clock;

/// The longest rest after a scan that took long.
const LONGEST_REST: Duration = Duration::from_secs(2);
/// How many times as much as a scan cost to leave files alone after it.
const REST: u32 = 40;
/// How many times as long as a scan took, where it waited for a disk or for other programs.
const REST_OF_WAITING: u32 = 4;
/// How many times as much as a scan cost to leave files alone where scan follows scan: with the frames
/// that show them, which cost half as much again, a stream of changes takes less than a hundredth of a
/// core.
const REST_IN_A_ROW: u32 = 200;
/// How far scans may run ahead of these rests: a few changes are shown soon.
const BURST: Duration = Duration::from_secs(3);
/// How often to scan while change events are complete: one can be missed all the same.
const SAFETY: Duration = Duration::from_secs(60);
/// When to scan again a file that was being written: by then it is whole, or it is corrupt;
/// unless the clock was set back, which makes it young for as long.
const SETTLING: Duration = Duration::from_millis(1_200);
/// How often to scan while change events are incomplete.
const POLL: Duration = Duration::from_secs(2);
/// How often to ask for new processes at first, and at most how seldom while none comes.
const GLANCES: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(6)];

/// How long after an agent's program was opened to ask which process runs it: the kernel opens it
/// first.
const EXEC_DELAY: Duration = Duration::from_millis(300);
/// How often at most: agents open their own programs many times a minute.
const EXEC_INTERVAL: Duration = Duration::from_millis(1_200);

/// Whether hints report all changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// Of all, as far as is known.
    Complete,
    /// Not of all.
    Incomplete,
}

/// What a scan cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) took: Duration,
    /// CPU time, which other programs' work does not lengthen.
    pub(super) cpu: Duration,
}

/// Decides when to scan.
pub(super) struct ScanScheduler {
    /// `None` when the channel is closed.
    hints: Option<Receiver<Hint>>,
    pub(super) coverage: Coverage,
    exec_check: ExecCheck,
    rests: Rests,
}

/// How long to leave files alone. Deaths do not wait: they cannot come in storms.
struct Rests {
    /// When the scans so far are outweighed by the longer rest.
    outweighed_at: Instant,
    /// Whether no scan has been counted: the first finds every cache empty, and says nothing of what the
    /// next will cost.
    is_first: bool,
}

impl Rests {
    fn new(now: Instant) -> Self {
        Self { outweighed_at: now, is_first: true }
    }

    /// Returns when to look at files again, after a scan that cost so much.
    fn over_at(&mut self, now: Instant, cost: Cost) -> Instant {
        if std::mem::take(&mut self.is_first) {
            return now;
        }
        let short = (cost.cpu * REST).max(cost.took * REST_OF_WAITING).min(LONGEST_REST);
        let long = (cost.cpu * REST_IN_A_ROW).min(LONGEST_REST);
        self.outweighed_at = self.outweighed_at.max(now) + long;
        let in_a_row = self.outweighed_at.checked_sub(BURST).unwrap_or(now);
        (now + short).max(in_a_row.min(now + long))
    }
}

/// When to ask whether an old process has become an agent.
#[derive(Default)]
struct ExecCheck {
    due_at: Option<Instant>,
    done_at: Option<Instant>,
}

impl ExecCheck {
    /// Notes that an agent's program was opened.
    fn expect(&mut self, now: Instant) {
        let earliest = self.done_at.map_or(now, |at| at + EXEC_INTERVAL);
        self.due_at.get_or_insert(earliest.max(now + EXEC_DELAY));
    }

    /// Returns whether to ask now, and takes that for done.
    fn take_due(&mut self, now: Instant) -> bool {
        let is_due = self.due_at.is_some_and(|at| at <= now);
        if is_due {
            *self = Self { due_at: None, done_at: Some(now) };
        }
        is_due
    }
}

/// What ends the waiting for a hint.
enum Wake {
    /// This process has exited.
    Death(ProcessId),
    /// A caller waits for a scan.
    Asked,
    /// A program of an agent's was opened.
    Program,
    /// Files have changed, or something was missed.
    Change,
    /// Nothing until the time was up, or ever again.
    Timeout,
}

impl ScanScheduler {
    /// Prepares to wait for hints; without any it polls.
    pub(super) fn new(hints: Option<Receiver<Hint>>) -> Self {
        let coverage = if hints.is_some() { Coverage::Complete } else { Coverage::Incomplete };
        let rests = Rests::new(clock::steady());
        Self { hints, coverage, exec_check: ExecCheck::default(), rests }
    }

    /// Waits until it is time for the scan after one that cost so much, and after so many in a row that
    /// saw something unsettled. Returns which process has exited, if that is why.
    pub(super) fn wait_after(
        &mut self,
        cost: Cost,
        unsettled: u32,
        reports: &mut impl ReportSource,
    ) -> Option<ProcessId> {
        let now = clock::steady();
        let longest = match self.coverage {
            Coverage::Complete => SAFETY,
            Coverage::Incomplete => POLL,
        };
        let rested_at = self.rests.over_at(now, cost);
        let exited = self.wait(rested_at, now + longest.min(settling(unsettled)), reports);
        self.drain();
        exited
    }

    /// Waits until it is time for another scan: at once after a death or when asked, after the rest
    /// when files change, when a process has come, or for safety. Returns which process has exited, if that
    /// is why.
    fn wait(
        &mut self,
        rested_at: Instant,
        over_at: Instant,
        reports: &mut impl ReportSource,
    ) -> Option<ProcessId> {
        let [mut glance_after, seldom] = GLANCES;
        let mut glance_at = clock::steady() + glance_after;
        let mut is_pending = false;
        loop {
            let until = if is_pending { rested_at } else { glance_at.min(over_at) };
            let until = self.exec_check.due_at.map_or(until, |at| at.min(until));
            let wake = self.wake(until);
            if self.exec_check.take_due(clock::steady()) && reports.has_new_agent() {
                return None;
            }
            match wake {
                Wake::Death(id) => return Some(id),
                Wake::Asked => return None,
                Wake::Program => self.exec_check.expect(clock::steady()),
                Wake::Change if clock::steady() >= rested_at => return None,
                Wake::Change => is_pending = true,
                Wake::Timeout if is_pending && clock::steady() >= rested_at => return None,
                Wake::Timeout if clock::steady() >= over_at => return None,
                Wake::Timeout if is_pending || clock::steady() < glance_at => {}
                Wake::Timeout if reports.has_news() => return None,
                Wake::Timeout => {
                    glance_after = (glance_after * 2).min(seldom);
                    glance_at = clock::steady() + glance_after;
                }
            }
        }
    }

    /// Takes the hints that wait: the next scan answers all of them.
    fn drain(&mut self) {
        while let Some(Ok(hint)) = self.hints.as_ref().map(Receiver::try_recv) {
            match hint {
                Hint::Lost(_) => self.coverage = Coverage::Incomplete,
                // A scan does not read every process again.
                Hint::Program => self.exec_check.expect(clock::steady()),
                Hint::Files | Hint::Process(_) | Hint::Asked => {}
            }
        }
    }

    fn wake(&mut self, until: Instant) -> Wake {
        let left = until.saturating_duration_since(clock::steady());
        let Some(hints) = &self.hints else {
            std::thread::sleep(left);
            return Wake::Timeout;
        };
        match hints.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => Wake::Timeout,
            Ok(Hint::Process(id)) => Wake::Death(id),
            Ok(Hint::Asked) => Wake::Asked,
            Ok(Hint::Program) => Wake::Program,
            Ok(Hint::Files) => Wake::Change,
            Ok(Hint::Lost(why)) => {
                tracing::warn!(why, "change events are incomplete");
                self.coverage = Coverage::Incomplete;
                Wake::Change
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.coverage = Coverage::Incomplete;
                self.hints = None;
                Wake::Change
            }
        }
    }
}

/// Returns how long to wait at most after so many scans in a row that saw something unsettled.
fn settling(scans: u32) -> Duration {
    scans.checked_sub(1).map_or(SAFETY, |before| SETTLING * (1 << before.min(6)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::core::model::Report;
    use crate::core::testing;

    /// Has no time for glances: a wait instead of a scan fails the test.
    struct Hurry;

    impl ReportSource for Hurry {
        fn next_report(&mut self) -> Arc<Report> {
            Arc::new(testing::quiet())
        }

        fn has_news(&mut self) -> bool {
            panic!("it waited")
        }
    }

    #[test]
    fn a_death_waits_for_nothing() {
        let (hint, hints) = sync_channel(64);
        hint.send(Hint::Files).unwrap();
        let id = ProcessId { pid: 77, start_ticks: 1 };
        hint.send(Hint::Process(id)).unwrap();
        let rested_at = clock::steady() + Duration::from_secs(3_600);
        let mut scheduler = ScanScheduler::new(Some(hints));
        assert_eq!(scheduler.wait(rested_at, rested_at, &mut Hurry), Some(id));
        hint.send(Hint::Asked).unwrap();
        assert_eq!(scheduler.wait(rested_at, rested_at, &mut Hurry), None, "nor does who asks");
    }

    /// A process has become an agent, and none has come.
    struct Conversion;

    impl ReportSource for Conversion {
        fn next_report(&mut self) -> Arc<Report> {
            Arc::new(testing::quiet())
        }

        fn has_new_agent(&mut self) -> bool {
            true
        }
    }

    #[test]
    fn who_becomes_an_agent_is_asked_for_when_its_program_was_opened_and_also_before_the_last_look() {
        let (hint, hints) = sync_channel(64);
        let mut scheduler = ScanScheduler::new(Some(hints));
        let never = clock::steady() + Duration::from_secs(3_600);
        hint.send(Hint::Program).unwrap();
        assert_eq!(scheduler.wait(never, never, &mut Conversion), None);
        hint.send(Hint::Program).unwrap();
        scheduler.drain();
        assert_eq!(scheduler.wait(never, never, &mut Conversion), None, "what came during a scan counts");
    }

    #[test]
    fn openings_of_programs_make_few_questions() {
        let now = clock::steady();
        let mut check = ExecCheck::default();
        (0..100).for_each(|_| check.expect(now));
        assert!(!check.take_due(now), "the kernel opens a program before it runs");
        assert!(check.take_due(now + EXEC_DELAY) && !check.take_due(now + EXEC_DELAY * 2));
        check.expect(now + EXEC_DELAY);
        assert!(!check.take_due(now + EXEC_DELAY * 2));
        assert!(check.take_due(now + EXEC_DELAY + EXEC_INTERVAL));
    }

    #[test]
    fn a_file_that_stays_torn_is_looked_at_ever_more_seldom() {
        assert_eq!(settling(0), SAFETY);
        assert_eq!(settling(1), SETTLING);
        assert_eq!(settling(2), SETTLING * 2);
        assert!(settling(7) > SAFETY && settling(u32::MAX) > SAFETY);
    }

    /// Returns the rests after scans that took so long and followed each other as soon as they might.
    fn in_a_row(cost: Cost, scans: usize) -> Vec<Duration> {
        let mut now = clock::steady();
        let mut rests = Rests::new(now);
        assert_eq!(rests.over_at(now, cost), now, "the first scan makes no rest");
        let rest = || {
            let over_at = rests.over_at(now, cost);
            let rest = over_at - now;
            now = over_at + cost.took;
            rest
        };
        std::iter::repeat_with(rest).take(scans).collect()
    }

    /// A scan that nothing kept waiting.
    fn alone(took: Duration) -> Cost {
        Cost { took, cpu: took }
    }

    #[test]
    fn a_few_changes_are_shown_soon_and_a_stream_of_them_costs_little() {
        let took = Duration::from_millis(1);
        let rests = in_a_row(alone(took), 100);
        assert!(rests[..15].iter().all(|rest| *rest == took * REST), "{rests:?}");
        let streamed: Duration = rests.iter().rev().take(50).sum();
        assert!(streamed >= took * 50 * (REST_IN_A_ROW - 10), "{rests:?}");
        assert!(rests.iter().all(|rest| *rest <= took * REST_IN_A_ROW));
    }

    #[test]
    fn long_looks_are_followed_by_long_rests() {
        assert_eq!(in_a_row(alone(Duration::from_millis(5)), 1), [Duration::from_millis(200)]);
        assert_eq!(in_a_row(alone(Duration::from_secs(60)), 2), [LONGEST_REST; 2]);
    }

    #[test]
    fn waiting_for_a_disk_or_for_other_programs_makes_rests_little_longer() {
        let [took, cpu] = [Duration::from_millis(5), Duration::from_micros(100)];
        let rests = in_a_row(Cost { took, cpu }, 100);
        assert!(rests.iter().all(|rest| *rest == took * REST_OF_WAITING), "{rests:?}");
        let cpu = Duration::from_millis(1);
        assert_eq!(in_a_row(Cost { took, cpu }, 1), [cpu * REST]);
    }
}
