//! The thread that joins what is seen here with what other machines report: whichever is new, neither waits for the
//! other.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::core::model::{EndedWindow, Report};
use crate::observe::fleet::Fleet;
use crate::run::pace::Pace;
use crate::source::os::clock;

/// How many times what a report has cost, read, joined and drawn, passes before the next one: a storm elsewhere takes a
/// small part of one core.
const SHARE: u32 = 12;

/// How far reports are apart at most, whatever they cost.
const LONGEST: Duration = Duration::from_secs(1);

/// How many times what a report has cost a look at this machine waits for the next one: beside tens of thousands of
/// windows elsewhere agents can come and go here all the time.
const LOCAL_SHARE: u32 = 3;

/// How far reports may run ahead of that: what another machine says of what was just seen here, as of the end of one of
/// its own container's processes, waits for nothing.
const AHEAD: Duration = Duration::from_millis(400);

/// Where the last look at this machine is left for the thread.
#[derive(Clone)]
pub(crate) struct Local {
    last: Arc<Mutex<Last>>,
    nudge: SyncSender<()>,
    /// Cuts a pause short that only other machines need.
    hurry: SyncSender<()>,
}

/// The last look at this machine.
#[derive(Default)]
struct Last {
    report: Option<Arc<Report>>,
    /// Whether it was joined.
    is_joined: bool,
    /// Who has ended by looks that were never joined: each proof is in one look alone.
    missed: Vec<EndedWindow>,
}

impl Last {
    fn looked(&mut self, report: Arc<Report>) {
        let before = self.report.replace(report).filter(|_| !self.is_joined);
        self.missed.extend(before.iter().flat_map(|before| before.ended.iter().cloned()));
        self.is_joined = false;
    }

    fn join(&mut self) -> Option<Arc<Report>> {
        let mut report = self.report.clone()?;
        self.is_joined = true;
        if !self.missed.is_empty() {
            Arc::make_mut(&mut report).ended.append(&mut self.missed);
        }
        Some(report)
    }
}

impl Local {
    /// Takes a look at this machine in.
    pub(crate) fn looked(&self, report: Arc<Report>) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).looked(report);
        // One message that something is new is enough.
        let _ = self.hurry.try_send(());
        let _ = self.nudge.try_send(());
    }

    fn join(&self) -> Option<Arc<Report>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).join()
    }
}

/// Starts the thread. It ends when `send` breaks, or nothing can be new any more.
///
/// # Errors
/// The system has no more threads for us.
pub(crate) fn start(
    fleet: Fleet,
    mut send: impl FnMut(Arc<Report>) -> ControlFlow<()> + Send + 'static,
) -> io::Result<Local> {
    let (hurry, hurried) = sync_channel(1);
    let local = Local { last: Arc::default(), nudge: fleet.nudge(), hurry };
    let looked = local.clone();
    std::thread::Builder::new().name("joiner".to_owned()).spawn(move || {
        // A storm elsewhere makes no more than 30 frames a second.
        let mut pace = Pace::new(Instant::now());
        let mut rests = Rests { outweighed_at: Instant::now() };
        let mut spent = clock::spent_by_all();
        while fleet.wait() {
            let (began, before) = (Instant::now(), clock::spent_by_all());
            let read = before.saturating_sub(spent);
            // What was looked at until now is in this report.
            let _ = hurried.try_recv();
            if looked.join().is_some_and(|local| send(Arc::new(fleet.merged_with(&local))).is_break()) {
                return;
            }
            pace.drawn(Instant::now());
            std::thread::sleep(pace.free_at().saturating_duration_since(Instant::now()));
            spent = clock::spent_by_all();
            let cost = spent.saturating_sub(before);
            let rest = rests.after((began, Instant::now()), read, cost);
            fleet.shown_each(rest);
            pause(rest, cost * LOCAL_SHARE, &hurried);
        }
    })?;
    Ok(local)
}

/// How long what is new elsewhere waits for what reports have cost so far.
struct Rests {
    /// When they are outweighed.
    outweighed_at: Instant,
}

impl Rests {
    /// Returns how long to wait by now, after a report that was begun then and cost so much. What was read since the one
    /// before counts too, as far as the time in between has not outweighed it.
    fn after(&mut self, (began, now): (Instant, Instant), read: Duration, cost: Duration) -> Duration {
        let own = (cost * SHARE).min(LONGEST);
        let outweighed_at = (self.outweighed_at + read * SHARE).max(began) + own;
        self.outweighed_at = outweighed_at.min(began + LONGEST + AHEAD);
        self.outweighed_at.saturating_duration_since(now + AHEAD)
    }
}

/// Waits for so long, or until there is a new look at this machine, for which it waits at least so long.
fn pause(rest: Duration, least: Duration, hurried: &Receiver<()>) {
    let least = least.min(rest);
    std::thread::sleep(least);
    // Whatever ends it, what is new is joined next.
    let _ = hurried.recv_timeout(rest.saturating_sub(least));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{Key, Reason};
    use crate::core::testing;

    const COST: Duration = Duration::from_millis(5);

    /// How much of the time it takes to read what comes.
    const READ: f64 = 0.05;

    /// Joins for so long as often as it may, and returns how often and how much of the time all of it took.
    fn storm(during: Duration) -> (u32, f64) {
        let start = Instant::now();
        let (mut now, mut before, mut spent, mut count) = (start, start, Duration::ZERO, 0);
        let mut rests = Rests { outweighed_at: start };
        while now < start + during {
            let began = now;
            now += COST;
            let read = (now - std::mem::replace(&mut before, now)).mul_f64(READ);
            now += rests.after((began, now), read, COST);
            spent += read + COST;
            count += 1;
        }
        (count, spent.as_secs_f64() / (now - start).as_secs_f64())
    }

    #[test]
    fn what_a_quiet_hour_has_cost_delays_nobody() {
        let start = Instant::now();
        let mut rests = Rests { outweighed_at: start };
        let began = start + Duration::from_secs(3_600);
        for (read, what) in [(Duration::from_secs(5), "the first"), (Duration::ZERO, "and the next")] {
            assert_eq!(rests.after((began, began + COST), read, COST), Duration::ZERO, "{what}");
        }
        // A storm of which more is read than a share waits as long as anything may.
        let wait = rests.after((began, began), Duration::from_secs(5), COST);
        assert_eq!(wait, LONGEST);
    }

    #[test]
    fn no_proof_of_an_end_is_lost_with_a_look_that_was_not_joined() {
        let ended = |name: &str| EndedWindow { window: Key::typed(name), reason: Reason::NoProcess };
        let look = |ended: &[EndedWindow]| Arc::new(Report { ended: ended.to_vec(), ..testing::quiet() });
        let mut last = Last::default();
        last.looked(look(&[ended("w-1")]));
        last.looked(look(&[ended("w-2")]));
        last.looked(look(&[]));
        assert_eq!(last.join().unwrap().ended, [ended("w-1"), ended("w-2")]);
        last.looked(look(&[ended("w-3")]));
        assert_eq!(last.join().unwrap().ended, [ended("w-3")]);
        assert_eq!(last.join().unwrap().ended, [ended("w-3")], "another machine has told something");
        last.looked(look(&[]));
        assert_eq!(last.join().unwrap().ended, []);
    }

    #[test]
    fn a_few_reports_follow_each_other_and_a_storm_takes_a_small_part_of_a_core() {
        let (few, _) = storm(COST * 4);
        assert_eq!(few, 4, "what two machines say of one death waits for nothing");
        let (_, share) = storm(Duration::from_secs(60));
        assert!(share < 1.1 / f64::from(SHARE), "{share}");
    }
}
