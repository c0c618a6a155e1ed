//! A program in a real terminal, whose screen is kept as a person would see it.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// How long to wait before looking again.
const MOMENT: Duration = Duration::from_millis(50);
/// The most moments that a screen may take: far more than it can need.
const PATIENCE: usize = 1_200;

/// A program in a terminal. Dropping it hangs the terminal up and ends the program.
pub(crate) struct Screen {
    pub(crate) child: Box<dyn Child + Send + Sync>,
    pub(crate) parser: vt100::Parser,
    /// Every byte that the program has written.
    pub(crate) written: Vec<u8>,
    output: Receiver<Vec<u8>>,
    input: Option<Box<dyn Write + Send>>,
    pub(crate) master: Option<Box<dyn MasterPty + Send>>,
}

/// Prepares claimtop with an environment that contains only `TERM` and the time zone.
pub(crate) fn claimtop(arguments: &[String]) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_claimtop"));
    command.args(arguments);
    command.env_clear();
    command.env("TERM", "xterm-256color");
    command.env("TZ", "UTC");
    command
}

/// Returns a size in cells.
pub(crate) fn cells(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

impl Screen {
    /// Starts a program in a terminal of this size.
    pub(crate) fn start(command: CommandBuilder, columns: u16, rows: u16) -> Self {
        let pty = native_pty_system().openpty(cells(columns, rows)).unwrap();
        let child = pty.slave.spawn_command(command).unwrap();
        let reader = pty.master.try_clone_reader().unwrap();
        Self {
            child,
            parser: vt100::Parser::new(rows, columns, 0),
            written: Vec::new(),
            output: read_aside(reader),
            input: Some(pty.master.take_writer().unwrap()),
            master: Some(pty.master),
        }
    }

    /// Waits until the screen shows `text`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |screen| screen.shows(text));
    }

    /// Waits until `is_there` accepts the screen; `what` names the expectation.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, is_there: impl Fn(&Self) -> bool) {
        for _ in 0..PATIENCE {
            if is_there(self) {
                return;
            }
            self.take_output();
        }
        panic!("there never was {what}:\n{}", self.picture());
    }

    /// Takes over the program's output; waits a moment for the first of it.
    pub(crate) fn take_output(&mut self) {
        let first = self.output.recv_timeout(MOMENT);
        if first == Err(RecvTimeoutError::Disconnected) {
            std::thread::sleep(MOMENT);
        }
        let more: Vec<_> = first.into_iter().chain(self.output.try_iter()).collect();
        more.iter().for_each(|bytes| self.take(bytes));
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.written.extend(bytes);
    }

    /// Takes over the output until no process has the terminal open any more.
    fn take_rest(&mut self) {
        for _ in 0..PATIENCE {
            match self.output.recv_timeout(MOMENT) {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        self.parser.screen().contents().contains(text)
    }

    /// Returns the lines that are not empty.
    pub(crate) fn picture(&self) -> String {
        let contents = self.parser.screen().contents();
        let lines = contents.lines().map(str::trim_end).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn press(&mut self, keys: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(keys.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Quits, and returns the exit code.
    #[track_caller]
    pub(crate) fn end(mut self) -> u32 {
        // From any open view.
        self.press("\u{3}");
        self.wait_for_exit()
    }

    /// Waits until the program has ended by itself, and takes over its last output.
    #[track_caller]
    pub(crate) fn wait_for_exit(&mut self) -> u32 {
        for _ in 0..PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.take_rest();
                return status.exit_code();
            }
            self.take_output();
        }
        panic!("the program never ended:\n{}", self.picture());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.input.take();
        self.master.take();
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Reads in another thread, so that waiting for output can end.
fn read_aside(mut reader: Box<dyn Read + Send>) -> Receiver<Vec<u8>> {
    let (sender, output) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(read) = reader.read(&mut buffer) {
            let bytes = buffer.get(..read).unwrap_or_default();
            if bytes.is_empty() || sender.send(bytes.to_vec()).is_err() {
                break;
            }
        }
    });
    output
}
