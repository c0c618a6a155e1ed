//! Copies of programs, which are to be started.

use std::path::Path;
use std::process::Command;

pub(crate) use self::started::spawn;

#[path = "started.rs"]
mod started;

/// Copies a program by another process. If this one wrote it, whatever another test forks
/// meanwhile would have it open for writing as well, and the system refuses to start such a file.
pub(crate) fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let status = Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status().unwrap();
    assert!(status.success(), "failed to copy {}", from.as_ref().display());
}
