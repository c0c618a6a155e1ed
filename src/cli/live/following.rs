//! Follows the world look by look, until INT or TERM.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, channel};

use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::core::model::Report;
use crate::core::model::text::shown;
use crate::observe::Observer;
use crate::observe::fleet::Fleet;
use crate::run::threads::joining;
use crate::run::threads::scanner;
use crate::run::threads::scanner::ScanEvent;

/// What can come next.
pub(crate) enum Next {
    Looked(Arc<Report>),
    /// Not all changes are reported from now on.
    HintsLost,
    /// The caller wants no more.
    Interrupted,
}

/// What follows the looks.
pub(crate) struct Following {
    events: Receiver<ScanEvent>,
    interrupted: Signal,
    terminated: Signal,
}

/// Starts to look again and again, and lets `what` follow.
///
/// # Errors
/// The loop cannot be started, or what `what` returns.
pub(crate) fn follow(observer: Observer, what: impl AsyncFnOnce(Following) -> Outcome) -> Outcome {
    follow_all(observer, None, what)
}

/// Follows other machines as well.
///
/// # Errors
/// As [`follow`].
pub(crate) fn follow_all(
    observer: Observer,
    mut fleet: Option<Fleet>,
    what: impl AsyncFnOnce(Following) -> Outcome,
) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("failed to start the scan loop").map_err(bug)?;
    // The other machines are let go at the end of the following.
    let _ending = fleet.as_mut().map(Fleet::ending);
    let (observer, hints) = observer.watched();
    let (sender, events) = channel(1);
    let send = move |event| match sender.blocking_send(event) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let joined = fleet.map(|fleet| {
        let send = send.clone();
        joining::start(fleet, move |report| send(ScanEvent::Report(report)))
    });
    let local = joined.transpose().context("failed to start the thread that joins machines").map_err(bug)?;
    let send = move |event| match (event, &local) {
        (ScanEvent::Report(report), Some(local)) => {
            local.looked(report);
            ControlFlow::Continue(())
        }
        (event, _) => send(event),
    };
    scanner::start(observer, Some(hints), send).context("failed to start the scanner").map_err(bug)?;
    let catch = |kind| signal(kind).context("failed to listen for signals").map_err(bug);
    runtime.block_on(async {
        let (interrupted, terminated) = (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?);
        what(Following { events, interrupted, terminated }).await
    })
}

fn bug(error: anyhow::Error) -> Failure {
    Failure::new(Exit::Bug, error)
}

impl Following {
    /// Waits for what comes next; nothing is lost when it is given up half way.
    ///
    /// # Errors
    /// The scanner thread has failed.
    pub(crate) async fn next(&mut self) -> Result<Next, Failure> {
        loop {
            let event = tokio::select! {
                biased;
                _ = self.interrupted.recv() => return Ok(Next::Interrupted),
                _ = self.terminated.recv() => return Ok(Next::Interrupted),
                event = self.events.recv() => event,
            };
            return match event {
                Some(ScanEvent::Report(report)) => Ok(Next::Looked(report)),
                Some(ScanEvent::Exited(_) | ScanEvent::Measured(_)) => continue,
                Some(ScanEvent::HintsLost) => Ok(Next::HintsLost),
                Some(ScanEvent::Failed(what)) => {
                    Err(bug(anyhow!("the scanner thread has failed: {}", shown(&what))))
                }
                None => Err(bug(anyhow!("the scanner thread has stopped"))),
            };
        }
    }
}
