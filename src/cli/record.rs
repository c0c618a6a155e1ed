//! `record`: keeps what is seen, look by look, until interrupted.

use std::path::Path;

use anyhow::{Context, anyhow};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{Receiver, channel};

use super::args::RecordArguments;
use super::failure::{Exit, Failure, Outcome};
use super::look::Looker;
use super::output::complain;
use super::replay;
use crate::core::agent::Signatures;
use crate::core::text::{Untrusted, shown};
use crate::run::looking::{self, Audience, Said};
use crate::run::tape::{Kept, Tape, Tell, Wish};
use crate::source::clock;

/// Records looks, or copies those of another recording.
///
/// # Errors
/// The file is there already or cannot be written, or the other recording cannot be read.
pub(crate) fn run(asked: &RecordArguments, looker: Looker, signatures: Signatures) -> Outcome {
    match &asked.from {
        Some(from) => copy(asked, from),
        None => record(asked, looker, signatures),
    }
}

fn record(asked: &RecordArguments, looker: Looker, signatures: Signatures) -> Outcome {
    let tape = Tape::new(signatures);
    begin(asked, &tape)?;
    let mut looker = looker.taped(tape.clone());
    if asked.once {
        looker.report();
        return ended(&tape);
    }
    complain(&format!("claimtop: recording into {} until interrupted", Untrusted::from_path(&asked.file)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("failed to start the loop of looks").map_err(bug)?;
    let (looker, hints) = looker.watched();
    let (sender, said) = channel(1);
    let say = move |said| match sender.blocking_send(said) {
        Ok(()) => Audience::Listens,
        Err(_) => Audience::Gone,
    };
    looking::start(looker, Some(hints), say).context("failed to start looking").map_err(bug)?;
    runtime.block_on(until_ended(said, &tape))
}

/// Lets the looking go on until INT, TERM or the end of the tape.
async fn until_ended(mut said: Receiver<Said>, tape: &Tape) -> Outcome {
    let catch = |kind| signal(kind).context("failed to listen for signals").map_err(bug);
    let (mut interrupted, mut terminated) =
        (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?);
    loop {
        let said = tokio::select! {
            biased;
            _ = interrupted.recv() => return ended(tape),
            _ = terminated.recv() => return ended(tape),
            said = said.recv() => said,
        };
        match said {
            Some(Said::Failed(what)) => {
                return Err(bug(anyhow!("the thread that looks has failed: {}", shown(&what))));
            }
            None => return Err(bug(anyhow!("nobody looks any more"))),
            Some(Said::Looked(..) | Said::HintsLost) if tape.path().is_none() => return ended(tape),
            Some(Said::Looked(..) | Said::HintsLost) => {}
        }
    }
}

/// Copies a recording, as a rule to redact it.
fn copy(asked: &RecordArguments, from: &Path) -> Outcome {
    let recording = replay::open(from)?;
    let tape = Tape::new(recording.header.signatures.clone());
    begin(asked, &tape)?;
    for (number, mark) in recording.marks().iter().enumerate() {
        let look = recording.look(number).map_err(|error| replay::unreadable(from, error))?;
        match tape.keep(&look, mark.event) {
            Kept::Written => {}
            Kept::Off | Kept::Full => break,
            Kept::Failed(error) => return Err(failed(&asked.file, error)),
        }
    }
    ended(&tape)
}

fn begin(asked: &RecordArguments, tape: &Tape) -> Result<(), Failure> {
    let redact: Option<Tell> = asked.redact.then(|| {
        complain("claimtop: PIDs, ticks, times, UUIDs and the systems' own words stay; replaced is:");
        let tell: Tell = Box::new(|fresh| fresh.iter().for_each(tell));
        tell
    });
    let limit = u64::from(asked.limit_mb) << 20;
    let wish = Wish { path: asked.file.clone(), began_at: clock::now(), limit, redact };
    tape.begin(wish).map_err(|error| failed(&asked.file, error))
}

fn tell((name, word): &(String, String)) {
    complain(&format!("  {} becomes {word}", shown(name)));
}

/// Ends the recording; one that ended before its time was full or failed, and says so.
fn ended(tape: &Tape) -> Outcome {
    if tape.end().is_none() {
        complain("claimtop: the recording has ended: it is full, or the disk refused it");
        return Ok(Exit::Failed);
    }
    Ok(Exit::Fine)
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    let what = format!("failed to record into {}", Untrusted::from_path(path));
    Failure::new(Exit::Failed, anyhow!(error).context(what)).hint("name a file that is not there yet")
}

fn bug(error: anyhow::Error) -> Failure {
    Failure::new(Exit::Bug, error)
}
