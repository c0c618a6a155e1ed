//! Progress of what takes longer than a second, in one line of the terminal that is gone at the end.

use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cli::settings::environment::Environment;
use crate::present::text::{cut, safe};

/// How long it takes until the line is written, and written again.
const EVERY: Duration = Duration::from_secs(1);

/// Erases the line (ECMA-48, EL), for what is written next.
const ERASE: &str = "\r\u{1b}[K";

/// What is under way. Its line goes when this does.
pub(crate) struct Progress {
    now: Arc<Mutex<String>>,
    writer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to show what is under way, if the standard error output is a terminal that can erase a line.
    pub(crate) fn begin(environment: &Environment, what: &str) -> Self {
        let is_shown = stderr().is_terminal() && !environment.is_dumb;
        let columns = rustix::termios::tcgetwinsize(stderr()).map_or(80, |size| usize::from(size.ws_col));
        match is_shown {
            true => Self::writing_to(stderr(), what, EVERY, columns.max(20)),
            false => Self { now: Arc::default(), writer: None },
        }
    }

    /// Says what is being done now.
    pub(crate) fn show(&self, what: &str) {
        if self.writer.is_some() {
            *self.now.lock().unwrap_or_else(PoisonError::into_inner) = safe(what);
        }
    }

    fn writing_to(mut out: impl Write + Send + 'static, what: &str, every: Duration, columns: usize) -> Self {
        let now = Arc::new(Mutex::new(safe(what)));
        let (end, ended) = channel();
        let shown = Arc::clone(&now);
        let write = move || {
            let mut seconds = 0_u32;
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                seconds += 1;
                let what = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let line = format!("{what} … {seconds} s, Ctrl-C stops it");
                // A terminal that has hung up shows nothing.
                let _ = write!(out, "{ERASE}{}", cut(&line, columns - 1)).and_then(|()| out.flush());
            }
            if seconds > 0 {
                let _ = write!(out, "{ERASE}").and_then(|()| out.flush());
            }
        };
        // Without a thread nothing is shown, and all else goes as it would.
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(write).ok();
        Self { now, writer: thread.map(|thread| (end, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.writer.take() {
            drop(end);
            // What is printed next must not be erased.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// Sends what is written.
    struct Sink(Sender<String>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn wait_for(written: &Receiver<String>, part: &str) {
        while !written.recv().unwrap().contains(part) {}
    }

    #[test]
    fn the_line_says_what_is_under_way_and_is_gone_at_the_end() {
        let (sender, written) = channel();
        let progress = Progress::writing_to(Sink(sender), "Looking", Duration::from_millis(1), 80);
        wait_for(&written, "Looking … ");
        progress.show("Measuring it");
        wait_for(&written, "Measuring it");
        drop(progress);
        assert_eq!(written.iter().last().as_deref(), Some(ERASE));
    }

    #[test]
    fn what_is_finished_at_once_writes_nothing() {
        let (sender, written) = channel();
        drop(Progress::writing_to(Sink(sender), "Looking", Duration::from_secs(3_600), 80));
        assert_eq!(written.iter().count(), 0);
    }
}
