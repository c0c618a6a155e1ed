//! What a stand-in does: it waits under an agent's name, and starts helpers on request.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use super::hook::Hook;
use super::left_over::{self, StartRequest};
use crate::cli::output::failure::Exit;
use crate::cli::settings::environment;
use crate::cli::settings::environment::STAND_IN_VARIABLE;

/// Waits until the process that started this one is gone. A line that is an order is left to go on; one that is a hook
/// is run, and what that prints is the answer, as JSON; each other line that comes in names a program to start as
/// another stand-in; the answer is its PID. The first answer comes unasked.
///
/// Both a closed pipe and the kernel report the end: a stopped process does not notice the
/// first, so it must not be stopped before that first answer.
pub(crate) fn play() -> Exit {
    if let Some(part) = environment::part() {
        let part = serde_json::from_str(&part).map_err(std::io::Error::from);
        return part.and_then(|part| left_over::play(&part)).unwrap_or(Exit::Failed);
    }
    end_with_parent();
    let mut helpers: Vec<Child> = Vec::new();
    // What is open to those that are left, until this window ends.
    let mut inputs: Vec<ChildStdin> = Vec::new();
    if writeln!(stdout(), "{}", std::process::id()).is_err() {
        return Exit::Failed;
    }
    for line in stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Ok(order) = serde_json::from_str::<StartRequest>(&line) {
            match leave(&order) {
                Ok(input) => inputs.extend(input),
                Err(_) => return Exit::Failed,
            }
            continue;
        }
        if let Ok(hook) = serde_json::from_str::<Hook>(&line) {
            let output = hook.run().unwrap_or_default();
            if writeln!(stdout(), "{}", serde_json::Value::from(output)).is_err() {
                break;
            }
            continue;
        }
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

/// Asks the kernel to end this process with the one that started it. Where it does not, the pipe alone must do.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// Starts what goes on without this window, and says the PIDs of all of it.
fn leave(order: &StartRequest) -> std::io::Result<Option<ChildStdin>> {
    let mut child = left_over::ordered(command(&order.part.program), order)?.spawn()?;
    let input = child.stdin.take();
    let output = child.stderr.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
    for line in output.take(1 + order.part.below.len()) {
        writeln!(stdout(), "{}", line?)?;
    }
    child.wait()?;
    Ok(input)
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
