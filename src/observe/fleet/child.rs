//! The programs that reach machines and that sign: each in a session of its own, so that nothing it starts can prompt
//! at this terminal. None of them outlives this program.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::{Child, Command};
use tokio::time::timeout;

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
    // The options to be quiet do not reach a jump's inner ssh.
    command.env("SSH_ASKPASS_REQUIRE", "never").env("GIT_TERMINAL_PROMPT", "0").kill_on_drop(true);
    command.spawn()
}

/// The work in progress over there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnderWay {
    /// It has not greeted yet.
    Nothing,
    /// It reports its looks.
    Looking,
    /// It has an order, and finishes it.
    Order,
}

/// How long a program may take to end after a request to end.
const ASKED_TO: Duration = Duration::from_secs(1);

/// Waits until a program whose input has ended exits: requests it to end after a while, and finally kills it.
pub(super) async fn end(mut program: Child, under_way: UnderWay) {
    let patience = match under_way {
        UnderWay::Nothing => Duration::ZERO,
        UnderWay::Looking => Duration::from_secs(2),
        UnderWay::Order => Duration::from_secs(10),
    };
    if timeout(patience, program.wait()).await.is_ok() {
        return;
    }
    for (signal, patience) in [(Signal::TERM, ASKED_TO), (Signal::KILL, ASKED_TO)] {
        if let Err(error) = send(&program, signal) {
            tracing::warn!(%error, ?signal, "a machine's program is not ended");
        }
        if timeout(patience, program.wait()).await.is_ok() {
            return;
        }
    }
}

/// Sends a signal to a program that was started here and not yet waited for, so its PID is still its own.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is a program that this one has started, held by a pidfd")]
fn send(program: &Child, signal: Signal) -> rustix::io::Result<()> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};
    let pid = program.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    // It has been waited for.
    let Some(pid) = pid else { return Ok(()) };
    pidfd_send_signal(pidfd_open(pid, PidfdFlags::empty())?, signal)
}

/// Leaves the end of a program to its drop, which kills it.
#[cfg(not(target_os = "linux"))]
fn send(_program: &Child, _signal: Signal) -> rustix::io::Result<()> {
    Ok(())
}

/// Returns this very program, even if its file was replaced since.
#[expect(clippy::disallowed_methods, reason = "another machine is reached by a program of the user's")]
fn own() -> io::Result<std::process::Command> {
    Ok(std::process::Command::new(std::env::current_exe()?))
}
