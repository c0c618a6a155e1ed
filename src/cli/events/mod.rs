//! `events`: what changes, one line for each change, until somebody has had enough.

mod diff;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::interval;

use self::diff::{Event, diff};
use super::failure::{Exit, Failure, Outcome};
use super::look::Looker;
use super::output::{Shape, is_reader_gone, print};
use crate::core::json;
use crate::core::report::Report;
use crate::run::looking::{self, Audience, Said};

/// How often to ask whether anybody still reads.
const READER: Duration = Duration::from_secs(1);

/// Prints what is there, and then each change, until INT, TERM or the end of the reader.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(looker: Looker, shape: Shape) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("failed to start the loop of events").map_err(bug)?;
    let (looker, hints) = looker.watched();
    let (sender, said) = channel(1);
    let say = move |said| match sender.blocking_send(said) {
        Ok(()) => Audience::Listens,
        Err(_) => Audience::Gone,
    };
    looking::start(looker, Some(hints), say).context("failed to start looking").map_err(bug)?;
    runtime.block_on(stream(said, shape))
}

fn bug(error: anyhow::Error) -> Failure {
    Failure::new(Exit::Bug, error)
}

async fn stream(mut said: Receiver<Said>, shape: Shape) -> Outcome {
    let catch = |kind| signal(kind).context("failed to listen for signals").map_err(bug);
    let (mut interrupted, mut terminated) =
        (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?);
    let mut ticks = interval(READER);
    let mut before: Option<Arc<Report>> = None;
    loop {
        // `None` when it is only time to ask for the reader.
        let said = tokio::select! {
            biased;
            _ = interrupted.recv() => return Ok(Exit::Fine),
            _ = terminated.recv() => return Ok(Exit::Fine),
            said = said.recv() => Some(said),
            _ = ticks.tick() => None,
        };
        if is_reader_gone() {
            return Ok(Exit::Fine);
        }
        match said {
            Some(Some(Said::Looked(now))) => {
                print(&lines(&diff(before.as_deref(), &now), shape)?)?;
                before = Some(now);
            }
            None | Some(Some(Said::HintsLost)) => {}
            Some(Some(Said::Failed(what))) => {
                return Err(bug(anyhow!("the thread that looks has failed: {what}")));
            }
            Some(None) => return Err(bug(anyhow!("nobody looks any more"))),
        }
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
