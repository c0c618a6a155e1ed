//! Makes named pipes, for the demo and for tests of what must not wait for a writer.

use std::path::Path;

/// Makes a named pipe, which only this user can open.
///
/// # Errors
/// It cannot be made, or something has its name.
#[cfg(not(target_os = "macos"))]
pub fn make_pipe(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// The same for systems whose mknodat(2) makes none.
///
/// # Errors
/// It cannot be made, or something has its name.
#[cfg(target_os = "macos")]
pub fn make_pipe(path: &Path) -> std::io::Result<()> {
    use nix::sys::stat::Mode;
    Ok(nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?)
}
