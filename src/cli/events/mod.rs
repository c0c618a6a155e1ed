//! `events`: what changes, one line for each change, until somebody has had enough.

mod diff;

use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::Receiver;
use tokio::time::{MissedTickBehavior, interval, sleep};

use self::diff::{Event, diff};
use super::failure::{Exit, Failure, Outcome};
use super::look::Looker;
use super::output::{Shape, is_reader_gone, print};
use crate::core::json;
use crate::core::report::Report;
use crate::source::watch::Hint;

/// How long one look is from the next while nothing is told: hints can be missed.
const SAFETY: Duration = Duration::from_secs(1);
/// How long to wait for further hints after the first: one write raises several.
const COALESCE: Duration = Duration::from_millis(20);

/// Prints what is there, and then each change, until INT, TERM or the end of the reader.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(looker: Looker, shape: Shape) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("failed to start the clock of events").map_err(bug)?;
    let (looker, hints) = looker.watched();
    runtime.block_on(stream(looker, hints, shape))
}

fn bug(error: anyhow::Error) -> Failure {
    Failure::new(Exit::Bug, error)
}

async fn stream(mut looker: Looker, mut hints: Receiver<Hint>, shape: Shape) -> Outcome {
    let catch = |kind| signal(kind).context("failed to listen for signals").map_err(bug);
    let (mut interrupted, mut terminated) =
        (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?);
    let mut ticks = interval(SAFETY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut before: Option<Report> = None;
    loop {
        tokio::select! {
            biased;
            _ = interrupted.recv() => return Ok(Exit::Fine),
            _ = terminated.recv() => return Ok(Exit::Fine),
            _ = ticks.tick() => {}
            Some(_) = hints.recv() => {
                sleep(COALESCE).await;
                while hints.try_recv().is_ok() {}
            }
        }
        if is_reader_gone() {
            return Ok(Exit::Fine);
        }
        let now = looker.report();
        print(&lines(&diff(before.as_ref(), &now), shape)?)?;
        before = Some(now);
    }
}

fn lines(events: &[Event], shape: Shape) -> Result<String, Failure> {
    let mut out = String::new();
    for event in events {
        match shape {
            Shape::Text(paint) => out.push_str(&event.line(paint)),
            Shape::Json => out.push_str(&json::to_line(event)?),
        }
        out.push('\n');
    }
    Ok(out)
}
