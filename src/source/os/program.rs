//! Runs a multiplexer's own program, which may not answer at all.

use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::source::os::clock;

/// How long a program may take for its answer.
const DEADLINE: Duration = Duration::from_secs(1);
/// The same of a program that takes half a second to begin, as kitty does.
const SLOW_DEADLINE: Duration = Duration::from_secs(4);
/// How often it is asked whether it has ended.
const STEP: Duration = Duration::from_millis(5);
/// The most bytes of an error that are read.
const WORDS: u64 = 512;
/// The most bytes of an answer that are read: what a pipe holds, so that no program waits for its reader (pipe(7)).
const ANSWER: u64 = 64 << 10;

/// The arguments of a program, and the variables that it gets beside claimtop's own.
type Words<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);

/// No variables.
const NOTHING: &[(&str, &str)] = &[];

/// Why a program did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error("failed to start {0}: {1}")]
    NotStarted(String, std::io::Error),
    #[error("{0} did not answer within {1} s and was ended")]
    Silent(String, u64),
    #[error("{0} refused: {1}")]
    Refused(String, String),
}

/// Runs a program to its end, or to its deadline; then it is killed.
///
/// # Errors
/// It cannot be started, does not end in time, or says that it failed.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<(), ProgramError> {
    finish((program, DEADLINE), (arguments, NOTHING), Stdio::null()).map(drop)
}

/// Runs a program like [`run`] that may take a few seconds.
///
/// # Errors
/// The same.
pub(crate) fn run_slow(program: &str, arguments: &[&str]) -> Result<(), ProgramError> {
    finish((program, SLOW_DEADLINE), (arguments, NOTHING), Stdio::null()).map(drop)
}

/// Runs a program like [`run`], and returns what it writes.
///
/// # Errors
/// The same.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Result<Vec<u8>, ProgramError> {
    output_with(program, (arguments, NOTHING))
}

/// Runs a program like [`output`], with variables of its own.
///
/// # Errors
/// The same.
pub(crate) fn output_with(program: &str, words: Words<'_>) -> Result<Vec<u8>, ProgramError> {
    let mut child = finish((program, DEADLINE), words, Stdio::piped())?;
    Ok(child.stdout.take().map(|answer| read_now(answer, ANSWER)).unwrap_or_default())
}

fn finish(
    (program, deadline): (&str, Duration),
    (arguments, variables): Words<'_>,
    answer: Stdio,
) -> Result<Child, ProgramError> {
    let name = || program.rsplit('/').next().unwrap_or(program).to_owned();
    #[expect(clippy::disallowed_methods, reason = "a person asked to see a pane")]
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(answer)
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| ProgramError::NotStarted(name(), error))?;
    match ended(&mut child, deadline) {
        Some(status) if status.success() => Ok(child),
        Some(_) => Err(ProgramError::Refused(name(), words(&mut child))),
        None => {
            // It may have ended at this very moment.
            let _ = child.kill();
            let _ = child.wait();
            Err(ProgramError::Silent(name(), deadline.as_secs()))
        }
    }
}

fn ended(child: &mut Child, deadline: Duration) -> Option<ExitStatus> {
    let began_at = clock::steady();
    while began_at.elapsed() < deadline {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(STEP);
    }
    None
}

/// Reads what a program that has ended wrote. A grandchild may still have the pipe, so no more is read than is there.
fn read_now(pipe: impl Read + AsFd, most: u64) -> Vec<u8> {
    let mut text = Vec::new();
    let _ = rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::NONBLOCK);
    let _ = pipe.take(most).read_to_end(&mut text);
    text
}

/// Returns the first line of what a program that has ended said of its failure.
fn words(child: &mut Child) -> String {
    let text = child.stderr.take().map(|errors| read_now(errors, WORDS)).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned()
}
