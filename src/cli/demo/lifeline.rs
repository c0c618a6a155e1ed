//! A named pipe by which processes without a parent learn of the demo's end: the kernel closes it with the demo,
//! however that ends.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;

use crate::source::os::pipe::make_pipe;

/// Makes the pipe, and holds it open for as long as the file that it returns.
///
/// # Errors
/// It cannot be made.
pub(super) fn hold(path: &Path) -> io::Result<File> {
    make_pipe(path)?;
    OpenOptions::new().read(true).write(true).open(path)
}

/// Waits until what was held by it has ended, for half a minute at most: on a busy machine it may not be scheduled
/// for some seconds.
pub(super) fn wait_until(has_ended: impl FnMut() -> bool) {
    let mut tries = std::iter::repeat_with(has_ended).take(6_000);
    while tries.next().is_some_and(|has_ended| !has_ended) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The end of it that only waits.
pub(super) struct Lifeline(File);

impl Lifeline {
    /// Opens a pipe that another process holds, or has held.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        OpenOptions::new().read(true).custom_flags(flags).open(path).map(Self)
    }

    /// Returns whether a process still holds it.
    pub(super) fn is_held(&mut self) -> bool {
        // Without a writer there is an end.
        self.0.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Waits until no process holds it any more.
    pub(super) fn wait(&mut self) {
        while self.is_held() {
            let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None);
        }
    }
}
