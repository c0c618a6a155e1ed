//! Watches for a terminal that has gone away.
//!
//! crossterm 0.29 reads a hung-up terminal in a loop at full speed and never returns. A poll
//! without wanted events reports just the hang-up, and costs nothing until then.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::mpsc::Sender;

use crate::run::threads::event::{AtEnd, Event};
use crate::run::threads::signals;

/// Starts to watch the terminal that is drawn on. (Keys may come from elsewhere: standard input
/// can be a pipe that is closed by now.)
pub(crate) fn listen(sender: Sender<Event>, at_end: Option<AtEnd>) -> io::Result<()> {
    let tty = io::stdout().as_fd().try_clone_to_owned()?;
    std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
        if wait_for_hang_up(&tty) {
            signals::end(&sender, at_end.as_ref());
        }
    })?;
    Ok(())
}

/// Waits until no process holds the other side any more; `false` if that cannot be watched.
fn wait_for_hang_up(tty: &OwnedFd) -> bool {
    loop {
        let mut watched = [PollFd::new(tty, PollFlags::empty())];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => {
                return watched.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR));
            }
        }
    }
}
