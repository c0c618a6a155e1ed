//! Copies of programs, which are to be started.

use std::path::Path;
use std::process::{Child, Command};

/// Copies a program by another process. If this one wrote it, whatever another test forks
/// meanwhile would have it open for writing as well, and the system refuses to start such a file.
pub(crate) fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let status = Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status().unwrap();
    assert!(status.success(), "failed to copy {}", from.as_ref().display());
}

/// Starts a program and waits until it has its arguments. `spawn` of the standard library returns while
/// the kernel still replaces the child's memory: its name is the new one, but its command line is empty.
pub(crate) fn spawn(command: &mut Command) -> Child {
    let child =
        command.spawn().unwrap_or_else(|error| panic!("{}: {error}", command.get_program().display()));
    let line = format!("/proc/{}/cmdline", child.id());
    let stat = format!("/proc/{}/stat", child.id());
    let has_ended = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") Z "));
    while std::fs::read(&line).is_ok_and(|line| line.is_empty()) && !has_ended() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child
}
