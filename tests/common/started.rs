//! Processes that tests start to look at them: unit tests and test programs share this file.

#![expect(clippy::disallowed_methods, reason = "tests start processes")]

use std::process::{Child, Command};

/// Starts a program and waits until it runs. `spawn` of the standard library returns while the kernel still replaces
/// the child's memory: for a moment its arguments and its environment are the parent's, and then it has none.
pub(crate) fn spawn(command: &mut Command) -> Child {
    let child = command.spawn().unwrap();
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
