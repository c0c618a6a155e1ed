//! `events`: what changes, one line for each change, until somebody has had enough.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::interval;

use super::failure::{Exit, Failure, Outcome};
use super::following::{Following, Next, follow};
use super::look::Looker;
use super::output::{Paint, Shape, Tone, is_reader_gone, print};
use super::words;
use crate::core::change::{Change, Subject, diff};
use crate::core::json;
use crate::core::report::{ClaimStatus, Report};

/// How often to ask whether anybody still reads.
const READER: Duration = Duration::from_secs(1);

/// Prints what is there, and then each change, until INT, TERM or the end of the reader.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(looker: Looker, shape: Shape) -> Outcome {
    follow(looker, async |following| stream(following, shape).await)
}

async fn stream(mut following: Following, shape: Shape) -> Outcome {
    let mut ticks = interval(READER);
    let mut before: Option<Arc<Report>> = None;
    loop {
        // `None` when it is only time to ask for the reader.
        let next = tokio::select! {
            biased;
            next = following.next() => Some(next),
            _ = ticks.tick() => None,
        };
        if is_reader_gone() {
            return Ok(Exit::Fine);
        }
        match next.transpose()? {
            Some(Next::Looked(now)) => {
                print(&lines(&diff(before.as_deref(), &now), shape)?)?;
                before = Some(now);
            }
            Some(Next::Interrupted) => return Ok(Exit::Fine),
            Some(Next::HintsLost) | None => {}
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
