//! `events`: what changes, one line for each change, until somebody has had enough.

mod diff;

use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use self::diff::{Event, diff};
use super::failure::{Exit, Failure, Outcome};
use super::look::Looker;
use super::output::{Shape, is_reader_gone, print};
use crate::core::json;
use crate::core::report::Report;

/// How long one look is from the next.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Prints what is there, and then each change, until INT, TERM or the end of the reader.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(looker: &mut Looker, shape: Shape) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("failed to start the clock of events").map_err(bug)?;
    runtime.block_on(stream(looker, shape))
}

fn bug(error: anyhow::Error) -> Failure {
    Failure::new(Exit::Bug, error)
}

async fn stream(looker: &mut Looker, shape: Shape) -> Outcome {
    let catch = |kind| signal(kind).context("failed to listen for signals").map_err(bug);
    let (mut interrupted, mut terminated) =
        (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?);
    let mut ticks = interval(BETWEEN_LOOKS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut before: Option<Report> = None;
    loop {
        tokio::select! {
            biased;
            _ = interrupted.recv() => return Ok(Exit::Fine),
            _ = terminated.recv() => return Ok(Exit::Fine),
            _ = ticks.tick() => {}
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
