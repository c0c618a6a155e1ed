//! The thread that joins what is seen here with what other machines tell: whichever is new, none waits for the
//! other.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::core::model::Report;
use crate::observe::fleet::Fleet;
use crate::source::os::clock;

/// How far reports are apart at least, so that a storm elsewhere makes no more than 30 frames a second.
const APART: Duration = Duration::from_millis(33);

/// How many times what a report has cost, joined and drawn, passes before the next one: a storm elsewhere takes a small
/// part of one core.
const SHARE: u32 = 16;

/// How far reports are apart at most, whatever they cost.
const LONGEST: Duration = Duration::from_millis(400);

/// Where the last look at this machine is left for the thread.
#[derive(Clone)]
pub(crate) struct Local {
    last: Arc<Mutex<Option<Arc<Report>>>>,
    nudge: SyncSender<()>,
    /// Cuts a pause short that only other machines need.
    hurry: SyncSender<()>,
}

impl Local {
    /// Takes a look at this machine in.
    pub(crate) fn looked(&self, report: Arc<Report>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        // Who has been told already that something is new needs no telling.
        let _ = self.hurry.try_send(());
        let _ = self.nudge.try_send(());
    }

    fn last(&self) -> Option<Arc<Report>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        while fleet.wait() {
            let (began, spent) = (clock::steady(), clock::spent_by_all());
            // What was looked at until now is in this report.
            let _ = hurried.try_recv();
            if looked.last().is_some_and(|local| send(Arc::new(fleet.with(&local))).is_break()) {
                return;
            }
            std::thread::sleep(APART.saturating_sub(clock::steady() - began));
            let cost = clock::spent_by_all().saturating_sub(spent);
            let apart = (cost * SHARE).min(LONGEST);
            fleet.shown_each(if apart > APART { apart } else { Duration::ZERO });
            pause(apart.saturating_sub(clock::steady() - began), &hurried);
        }
    })?;
    Ok(local)
}

/// Waits for so long, or until there is a new look at this machine.
fn pause(rest: Duration, hurried: &Receiver<()>) {
    // Whatever ends it, what is new is joined next.
    let _ = hurried.recv_timeout(rest);
}
