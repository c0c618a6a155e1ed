//! `record`: keeps what is seen, look by look, until interrupted.

use std::path::Path;

use anyhow::anyhow;

use super::args::RecordArguments;
use super::failure::{Exit, Failure, Outcome};
use super::following::{Following, Next, follow};
use super::look::Looker;
use super::output::complain;
use super::replay;
use crate::core::agent::Signatures;
use crate::core::text::{Untrusted, shown};
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
    follow(looker, async |following| until_ended(following, &tape).await)
}

/// Lets the looking go on until INT, TERM or the end of the tape.
async fn until_ended(mut following: Following, tape: &Tape) -> Outcome {
    loop {
        match following.next().await? {
            Next::Interrupted => return ended(tape),
            Next::Looked(_) | Next::HintsLost if tape.path().is_none() => return ended(tape),
            Next::Looked(_) | Next::HintsLost => {}
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
