//! `alive`: whether a process, a session, a pane or the holder of a file lives, with the rule and its evidence.
//!
//! The exit code is the answer, and no failure has the code of one.

mod answer;
mod file;
mod process;
mod session;

use std::ffi::OsString;

use self::answer::Answer;
use crate::cli::args::help::definition;
use crate::cli::args::{AliveArguments, AliveSubject};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{Paint, Shape};
use crate::core::judge::liveness::by_number::{ProcessQuery, RecordedStart};
use crate::core::model::{ProcessId, StatedPid, VerdictState};
use crate::observe::Observer;

/// Parses a plain `alive PID[@START]` without building the whole parser, and without reading anything: scripts run it
/// often. `None` for everything that is not exactly that.
pub(crate) fn recognise(arguments: &[OsString]) -> Option<(ProcessQuery, Shape)> {
    let [_, command, rest @ ..] = arguments else { return None };
    if command != "alive" {
        return None;
    }
    let (process, shape) = match rest {
        [process] => (process, Shape::Text(Paint::Plain)),
        [process, json] | [json, process] if json == "--json" => (process, Shape::Json),
        _ => return None,
    };
    Some((process.to_str()?.parse().ok()?, shape))
}

/// Returns whether the arguments ask this command, even if they cannot be parsed.
pub(crate) fn is_asked(arguments: &[OsString]) -> bool {
    let parsed = definition().ignore_errors(true).try_get_matches_from(arguments);
    parsed.is_ok_and(|parsed| parsed.subcommand_name() == Some("alive"))
}

/// Gives a usage error the code that this command has for it.
pub(crate) fn usage(outcome: Outcome) -> Outcome {
    let code = |exit| if exit == Exit::Usage { Exit::UsageOfAlive } else { exit };
    match outcome {
        Ok(exit) => Ok(code(exit)),
        Err(failure) => Err(Failure { exit: code(failure.exit), ..failure }),
    }
}

/// Answers for a process alone.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn of_process(query: &ProcessQuery, shape: Shape) -> Outcome {
    process::answer(query).print(shape)
}

/// Returns whether the very process lives, by a look of its own.
pub(crate) fn life_of(process: ProcessId) -> VerdictState {
    let query = ProcessQuery {
        pid: StatedPid::Valid(process.pid),
        start: Some(RecordedStart::Ticks(process.start_ticks)),
        namespace: None,
    };
    process::answer(&query).judged().1.state
}

/// Answers for what the arguments name; `observer` prepares to look, where that takes more than one process.
///
/// # Errors
/// The configuration cannot be used, or the output cannot be written.
pub(crate) fn run(asked: AliveArguments, observer: impl FnOnce() -> Result<Observer, Failure>) -> Outcome {
    let shape = if asked.json { Shape::Json } else { Shape::Text(Paint::Plain) };
    if let Some(query) = asked.subject.process {
        return of_process(&ProcessQuery { namespace: asked.pid_namespace, ..query }, shape);
    }
    match judge(&asked.subject, asked.pid_namespace, &mut observer()?) {
        Some(answer) => answer.print(shape),
        None => Ok(Exit::Usage),
    }
}

/// Judges what is named; `None` if nothing is.
pub(crate) fn judge(
    subject: &AliveSubject,
    namespace: Option<u64>,
    observer: &mut Observer,
) -> Option<Answer> {
    match subject {
        AliveSubject { process: Some(query), .. } => {
            Some(process::answer(&ProcessQuery { namespace, ..query.clone() }))
        }
        AliveSubject { session: Some(id), .. } => Some(session::of_session(id, observer)),
        AliveSubject { pane: Some(pane), .. } => Some(session::of_pane(pane, observer)),
        AliveSubject { file: Some(path), .. } => Some(file::answer(path, namespace, observer)),
        AliveSubject { .. } => None,
    }
}
