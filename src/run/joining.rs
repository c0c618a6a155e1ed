//! The thread that joins what is seen here with what other machines tell: whichever is new, none waits for the
//! other.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::core::model::Report;
use crate::observe::fleet::Fleet;
use crate::source::os::clock;

/// How far reports are apart at least, so that a storm elsewhere makes no more than 30 frames a second.
const APART: Duration = Duration::from_millis(33);

/// Where the last look at this machine is left for the thread.
#[derive(Clone)]
pub(crate) struct Local {
    last: Arc<Mutex<Option<Arc<Report>>>>,
    nudge: SyncSender<()>,
}

impl Local {
    /// Takes a look at this machine in.
    pub(crate) fn looked(&self, report: Arc<Report>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        // Who has been told already that something is new needs no telling.
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
    let local = Local { last: Arc::default(), nudge: fleet.nudge() };
    let looked = local.clone();
    std::thread::Builder::new().name("joiner".to_owned()).spawn(move || {
        while fleet.wait() {
            let began = clock::steady();
            if looked.last().is_some_and(|local| send(Arc::new(fleet.with(&local))).is_break()) {
                return;
            }
            std::thread::sleep(APART.saturating_sub(clock::steady() - began));
        }
    })?;
    Ok(local)
}
