//! The scanner thread: it takes one report after another, and says so.

use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::core::model::{Code, LookStats, ProcessId, Report};
use crate::observe::ReportSource;
use crate::observe::watch::notice::Hint;
use crate::run::scheduler::{Cost, Coverage, ScanScheduler};
use crate::run::terminal;
use crate::source::os::clock;

/// What the scanner thread sends.
#[derive(Debug)]
pub(crate) enum ScanEvent {
    /// A new report.
    Report(Arc<Report>),
    /// This process has exited; the scan that judges it begins now.
    Exited(ProcessId),
    /// What the last scan was like.
    Measured(LookStats),
    /// Change events are incomplete from now on, so it polls.
    HintsLost,
    /// It has panicked; its words. There will be no other report.
    Failed(String),
}

/// Starts the thread. It ends when `send` breaks.
///
/// # Errors
/// The system has no more threads for us.
pub(crate) fn start(
    reports: impl ReportSource + Send + 'static,
    hints: Option<Receiver<Hint>>,
    mut send: impl FnMut(ScanEvent) -> ControlFlow<()> + Send + 'static,
) -> io::Result<()> {
    std::thread::Builder::new()
        .name("scanner".to_owned())
        .spawn(move || keep_scanning(reports, hints, &mut send))?;
    Ok(())
}

fn keep_scanning(
    mut reports: impl ReportSource,
    hints: Option<Receiver<Hint>>,
    send: &mut impl FnMut(ScanEvent) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut scheduler = ScanScheduler::new(hints);
    if scheduler.coverage == Coverage::Incomplete {
        send(ScanEvent::HintsLost)?;
    }
    let mut unsettled = 0;
    for scans in 1.. {
        let (began, spent) = (clock::steady(), clock::spent());
        // The source is not used again after a panic, so nothing half-done is seen.
        let Ok(scanned) = catch_unwind(AssertUnwindSafe(|| scan(&mut reports, scans, send))) else {
            return send(ScanEvent::Failed(terminal::last_panic()));
        };
        unsettled = match scanned {
            ControlFlow::Continue(Files::Unsettled) => unsettled + 1,
            ControlFlow::Continue(Files::Settled) => 0,
            ControlFlow::Break(()) => return ControlFlow::Break(()),
        };
        let before = scheduler.coverage;
        let cost = Cost { took: clock::steady() - began, cpu: clock::spent().saturating_sub(spent) };
        let exited = scheduler.wait_after(cost, unsettled, &mut reports);
        if let Some(id) = exited {
            send(ScanEvent::Exited(id))?;
        }
        if scheduler.coverage != before {
            send(ScanEvent::HintsLost)?;
        }
    }
    ControlFlow::Continue(())
}

enum Files {
    /// One of them was being written, or is corrupt; or edits are gone, and what removed them may be in progress.
    Unsettled,
    Settled,
}

/// Takes a report, sends it, and only then follows what it names, so that the screen is not delayed by it.
fn scan(
    reports: &mut impl ReportSource,
    looks: u64,
    send: &mut impl FnMut(ScanEvent) -> ControlFlow<()>,
) -> ControlFlow<(), Files> {
    let began = clock::steady();
    let report = reports.next_report();
    let took = clock::steady() - began;
    log(&report, took);
    let is_torn = report.findings.iter().any(|finding| finding.code == Code::TornRecord);
    let is_unsettled = is_torn || report.has_recent_loss();
    send(ScanEvent::Report(report))?;
    send(ScanEvent::Measured(LookStats { looks, took, watched: reports.follow() }))?;
    ControlFlow::Continue(if is_unsettled { Files::Unsettled } else { Files::Settled })
}

fn log(report: &Report, took: Duration) {
    tracing::debug!(
        took_us = took.as_micros(),
        windows = report.windows.len(),
        records = report.records.len(),
        findings = report.findings.len(),
        "looked"
    );
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel, sync_channel};

    use jiff::SignedDuration;

    use super::*;
    use crate::core::model::{EditState, WatchCounts};
    use crate::core::testing;

    fn scanning(
        reports: impl ReportSource + Send + 'static,
        hints: Option<Receiver<Hint>>,
    ) -> Receiver<ScanEvent> {
        let (sender, events) = channel();
        let send = move |event| {
            let is_heard = matches!(event, ScanEvent::Measured(_)) || sender.send(event).is_ok();
            if is_heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        start(reports, hints, send).unwrap();
        events
    }

    fn reported(events: &Receiver<ScanEvent>) -> bool {
        matches!(events.recv(), Ok(ScanEvent::Report(..)))
    }

    fn lost(events: &Receiver<ScanEvent>) -> bool {
        matches!(events.recv(), Ok(ScanEvent::HintsLost))
    }

    #[test]
    fn after_a_loss_of_this_moment_the_next_look_comes_soon() {
        for (ago, is_soon) in [(1, true), (2, false)] {
            let since = testing::now() - SignedDuration::from_secs(ago);
            let mut report = testing::busy();
            let window = report.windows.first_mut().unwrap();
            testing::edits(window, &["/home/dev/src/shop/pay.rs"]);
            let work = Arc::make_mut(window.work.as_mut().unwrap());
            for edit in &mut work.doing.edits {
                (edit.fate.state, edit.fate.since) = (EditState::Gone, Some(since));
            }
            let mut reports = || report.clone();
            let scanned = scan(&mut reports, 1, &mut |_| ControlFlow::Continue(()));
            assert_eq!(matches!(scanned, ControlFlow::Continue(Files::Unsettled)), is_soon);
        }
    }

    #[test]
    fn many_hints_make_one_look_and_a_closed_channel_is_told() {
        let (hint, hints) = sync_channel(64);
        for _ in 0..50 {
            hint.send(Hint::Files).unwrap();
        }
        drop(hint);
        let events = scanning(testing::quiet, Some(hints));
        assert!(reported(&events));
        let scans = events.iter().take_while(|event| matches!(event, ScanEvent::Report(..))).count();
        assert!(scans <= 2, "{scans} scans for hints that were there before");
        assert!(reported(&events));
    }

    #[test]
    fn a_loss_is_told_once_and_the_looking_goes_on() {
        let (hint, hints) = sync_channel(64);
        hint.send(Hint::Lost("too many".to_owned())).unwrap();
        let events = scanning(testing::quiet, Some(hints));
        assert!(reported(&events));
        assert!(lost(&events));
        assert!(reported(&events));
        hint.send(Hint::Lost("again".to_owned())).unwrap();
        assert!(reported(&events));
    }

    /// Says what is asked of it.
    struct Telling(std::sync::mpsc::Sender<&'static str>);

    impl ReportSource for Telling {
        fn next_report(&mut self) -> Arc<Report> {
            self.0.send("look").unwrap();
            Arc::new(testing::quiet())
        }

        fn follow(&mut self) -> WatchCounts {
            self.0.send("follow").unwrap();
            WatchCounts::default()
        }
    }

    #[test]
    fn a_look_is_said_before_it_is_followed() {
        let (sender, order) = channel();
        let events = sender.clone();
        let mut send = |event| {
            let name = if matches!(event, ScanEvent::Report(_)) { "report" } else { "measured" };
            events.send(name).unwrap();
            ControlFlow::Continue(())
        };
        let scanned = scan(&mut Telling(sender), 1, &mut send);
        assert!(scanned.is_continue());
        assert_eq!(order.try_iter().collect::<Vec<_>>(), ["look", "report", "follow", "measured"]);
    }

    #[test]
    fn a_panic_is_told_and_ends_the_looking() {
        let broken = || -> Report { panic!("broken on purpose") };
        let events = scanning(broken, None);
        assert!(lost(&events));
        assert!(matches!(events.recv(), Ok(ScanEvent::Failed(_))));
        assert!(events.recv().is_err());
    }
}
