//! `record`: keeps what is seen, look by look, until interrupted.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::anyhow;

use super::following::{Following, Next, follow};
use super::replay;
use crate::cli::args::RecordArguments;
use crate::cli::output::complain;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::said_yes;
use crate::core::history::recording::redact::{Redactor, Replacements};
use crate::core::judge::window::agent::Signatures;
use crate::core::model::Untrusted;
use crate::core::model::text::shown;
use crate::observe::Observer;
use crate::run::tape::{Tape, TapeOutcome, Tell, Wish};
use crate::source::os::clock;

/// Records looks, or copies those of another recording.
///
/// # Errors
/// The file is there already or cannot be written, or the other recording cannot be read.
pub(crate) fn run(asked: &RecordArguments, observer: Observer, signatures: Signatures) -> Outcome {
    match &asked.from {
        Some(from) => copy(asked, from),
        None => record(asked, observer, signatures),
    }
}

fn record(asked: &RecordArguments, mut observer: Observer, signatures: Signatures) -> Outcome {
    let redact = match redactor(asked, &signatures) {
        None => None,
        Some(mut redactor) => {
            redactor.look(&observer.look());
            if !may_redact(asked, &mut redactor)? {
                return Ok(Exit::Refused);
            }
            Some(redactor)
        }
    };
    let tape = Tape::new(signatures);
    begin(asked, &tape, redact)?;
    let mut observer = observer.recorded(tape.recorder());
    if asked.once {
        observer.observe();
        return ended(&tape);
    }
    complain(&format!("claimtop: recording into {} until interrupted", Untrusted::from_path(&asked.file)));
    follow(observer, async |following| until_ended(following, &tape).await)
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
    let look = |number| recording.look(number).map_err(|error| replay::unreadable(from, error));
    let signatures = recording.header.signatures.clone();
    let mut redact = redactor(asked, &signatures);
    if let Some(redactor) = &mut redact {
        for number in 0..recording.marks().len() {
            redactor.look(&look(number)?);
        }
        if !may_redact(asked, redactor)? {
            return Ok(Exit::Refused);
        }
    }
    let tape = Tape::new(signatures);
    begin(asked, &tape, redact)?;
    for (number, mark) in recording.marks().iter().enumerate() {
        match tape.keep(&look(number)?, mark.event) {
            TapeOutcome::Written => {}
            TapeOutcome::Off | TapeOutcome::Full => break,
            TapeOutcome::Failed(error) => return Err(failed(&asked.file, error)),
        }
    }
    ended(&tape)
}

fn begin(asked: &RecordArguments, tape: &Tape, redact: Option<Redactor>) -> Result<(), Failure> {
    let redact = redact.map(|redactor| {
        let tell: Tell = Box::new(print_replacements);
        (redactor, tell)
    });
    let limit = u64::from(asked.limit_mb) << 20;
    let wish = Wish { path: asked.file.clone(), began_at: clock::now(), limit, redact };
    tape.begin(wish).map_err(|error| failed(&asked.file, error))
}

/// Returns what replaces words, if that is wanted.
fn redactor(asked: &RecordArguments, signatures: &Signatures) -> Option<Redactor> {
    asked.redact.then(|| Redactor::new(signatures))
}

/// Lists what is replaced, and returns whether to write it: said by an option, or asked for on the
/// terminal. What comes up later is listed as it comes.
fn may_redact(asked: &RecordArguments, redactor: &mut Redactor) -> Result<bool, Failure> {
    complain("claimtop: PIDs, ticks, inodes and times stay; all text is replaced or kept:");
    print_replacements(&redactor.fresh());
    let may = asked.yes || said_yes(&format!("Write {}", Untrusted::from_path(&asked.file)))?;
    if !may {
        complain("claimtop: nothing is recorded: --yes writes it without asking");
    }
    Ok(may)
}

fn print_replacements(replacements: &Replacements) {
    for (name, word) in &replacements.replaced {
        complain(&format!("  {} becomes {word}", shown(name)));
    }
    // As many on a line as can be read.
    for kept in replacements.kept.chunks(12) {
        complain(&format!("  kept: {}", shown(&kept.join(", "))));
    }
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
    let (exit, hint) = match error.kind() == ErrorKind::NotFound {
        true => (Exit::Usage, "make the folder first"),
        false => (Exit::Failed, "name a file that does not exist"),
    };
    Failure::new(exit, anyhow!(error).context(what)).hint(hint)
}
