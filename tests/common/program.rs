//! Copies of programs, which are to be started.

use std::path::Path;
use std::process::{Child, Command};

/// Copies a program by another process. If this one wrote it, whatever another test forks
/// meanwhile would have it open for writing as well, and the system refuses to start such a file.
pub(crate) fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let status = Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status().unwrap();
    assert!(status.success(), "failed to copy {}", from.as_ref().display());
}

/// Starts a program and waits until it runs. `spawn` of the standard library returns while the kernel still replaces
/// the child's memory: for a moment its arguments are the parent's, and then it has none.
pub(crate) fn spawn(command: &mut Command) -> Child {
    let child =
        command.spawn().unwrap_or_else(|error| panic!("{}: {error}", command.get_program().display()));
    let arguments = |pid: &str| std::fs::read(format!("/proc/{pid}/cmdline"));
    let stat = format!("/proc/{}/stat", child.id());
    let has_ended = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") Z "));
    let own = arguments("self").unwrap_or_default();
    let is_becoming = |arguments: Vec<u8>| arguments.is_empty() || arguments == own;
    while arguments(&child.id().to_string()).is_ok_and(is_becoming) && !has_ended() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child
}
