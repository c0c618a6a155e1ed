//! `events`: what changes, one line for each change, until somebody has had enough.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::interval;

use super::failure::{Exit, Failure, Outcome};
use super::look::Looker;
use super::output::{Paint, Shape, Tone, is_reader_gone, print};
use super::words;
use crate::core::change::{Change, Subject, diff};
use crate::core::json;
use crate::core::report::{ClaimStatus, Report};
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
            Some(Some(Said::Looked(now, _))) => {
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

fn lines(changes: &[Change], shape: Shape) -> Result<String, Failure> {
    let mut out = String::new();
    for change in changes {
        match shape {
            Shape::Text(paint) => out.push_str(&line(change, paint)),
            Shape::Json => out.push_str(&json::to_line(change)?),
        }
        out.push('\n');
    }
    Ok(out)
}

/// Tells a change in one line for people.
fn line(change: &Change, paint: Paint) -> String {
    let time = paint.paint(Tone::Dim, &change.at.strftime("%H:%M:%SZ").to_string());
    let what = paint.paint(tone(&change.subject), &change.subject.told());
    format!("{time}  {:<15}  {what}", change.event.name())
}

fn tone(subject: &Subject) -> Tone {
    match subject {
        Subject::Window { state, .. } => words::window_state(*state).1,
        Subject::Record { verdict, .. } => words::verdict(*verdict).1,
        Subject::Claim { status, .. } => {
            status.map_or(Tone::Dim, |status: ClaimStatus| words::status(status).1)
        }
        Subject::Finding { severity, .. } => words::severity(*severity).1,
    }
}
