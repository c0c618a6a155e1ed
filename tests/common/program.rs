//! Copies programs that are to be started.

use std::path::Path;
use std::process::Command;

pub(crate) use self::started::spawn;

#[path = "started.rs"]
mod started;

/// Copies a program through another process. If this one wrote it, a child forked meanwhile by another test would have
/// it open for writing as well, and the system refuses to start such a file.
pub(crate) fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let status = Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status().unwrap();
    assert!(status.success(), "failed to copy {}", from.as_ref().display());
}
