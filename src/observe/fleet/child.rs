//! The programs that machines are reached by and that sign: each in a session of its own, so that nothing it starts
//! can ask a person at this terminal.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;

use tokio::process::{Child, Command};

/// The argument by which claimtop runs another program in a session of its own.
pub(crate) const APART: &str = "run-apart";

/// Starts a program without a terminal. It is killed when it is dropped.
///
/// # Errors
/// The system refuses, or there is no such program.
pub(crate) fn start(words: &[OsString]) -> io::Result<Child> {
    let mut command = Command::from(own()?);
    command.arg(APART).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A jump's inner ssh is not told to be quiet by its options.
    command.env("SSH_ASKPASS_REQUIRE", "never").env("GIT_TERMINAL_PROMPT", "0").kill_on_drop(true);
    command.spawn()
}

/// Returns this very program, also where its file was replaced since.
#[expect(clippy::disallowed_methods, reason = "another machine is reached by a program of the user's")]
fn own() -> io::Result<std::process::Command> {
    Ok(std::process::Command::new(std::env::current_exe()?))
}
