//! Reads what another program sends on the standard input, within a deadline.

use std::io::{IsTerminal, stdin};

use anyhow::{Context, bail};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{read, retry_on_intr};

use crate::source::os::clock;

/// The most bytes that may be sent: 8 MiB, with the text of a file that is written.
const MAX_BYTES: usize = 8 << 20;

/// Reads until the end, or for so many milliseconds: what has come by then is all there is.
///
/// # Errors
/// It is a terminal, more than [`MAX_BYTES`] come, or the system refuses.
pub(crate) fn read_all(patience: i64) -> anyhow::Result<Vec<u8>> {
    let input = stdin();
    if input.is_terminal() {
        bail!("the standard input is a terminal, not a hook");
    }
    let began_at = clock::steady();
    let mut bytes = Vec::with_capacity(16 << 10);
    loop {
        let spent = i64::try_from(began_at.elapsed().as_millis()).unwrap_or(patience);
        let left = (patience - spent).max(0);
        let timeout = Timespec { tv_sec: left / 1_000, tv_nsec: left % 1_000 * 1_000_000 };
        let mut fds = [PollFd::new(&input, PollFlags::IN)];
        let is_ready =
            retry_on_intr(|| poll(&mut fds, Some(&timeout))).context("failed to wait for input")? > 0;
        bytes.reserve(4 << 10);
        if !is_ready || retry_on_intr(|| read(&input, spare_capacity(&mut bytes)))? == 0 {
            return Ok(bytes);
        }
        if bytes.len() > MAX_BYTES {
            bail!("the hook's input has more than {MAX_BYTES} bytes");
        }
    }
}
