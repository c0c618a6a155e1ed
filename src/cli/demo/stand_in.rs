//! What a stand-in does: it waits under an agent's name, and starts helpers when told.

use std::io::{BufRead, Write, stdin, stdout};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::cli::environment::STAND_IN_VARIABLE;
use crate::cli::failure::Exit;

/// Waits until whoever started this process is gone. Each line that comes in names a program to
/// start as another stand-in; the answer is its PID. The first answer comes unasked.
///
/// Both a closed pipe and the kernel tell of the end: a stopped process does not notice the
/// first, so it must not be stopped before that first answer.
pub(crate) fn play() -> Exit {
    // Without it the pipe alone must do.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let mut helpers: Vec<Child> = Vec::new();
    if writeln!(stdout(), "{}", std::process::id()).is_err() {
        return Exit::Failed;
    }
    for line in stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(helper) = command(&line).spawn() else { return Exit::Failed };
        if writeln!(stdout(), "{}", helper.id()).is_err() {
            break;
        }
        helpers.push(helper);
    }
    for mut helper in helpers {
        let _ = helper.kill();
        let _ = helper.wait();
    }
    Exit::Fine
}

/// Makes the command that starts a program as a stand-in, with nothing of this environment: an
/// agent that runs the demo must not leak its own identity into it.
#[expect(clippy::disallowed_methods, reason = "the demo starts processes, and each one is our own program")]
pub(super) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .arg0(program.rsplit('/').next().unwrap_or(program))
        .env_clear()
        .env(STAND_IN_VARIABLE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}
