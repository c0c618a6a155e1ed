//! The program in a real terminal, read by a terminal's parser.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use portable_pty::{CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};

/// How often a test looks before it gives up: a minute, far more than anything can need.
const TRIES: usize = 600;

/// A screen in a terminal.
pub(crate) struct Screen {
    pub(crate) child: Box<dyn portable_pty::Child + Send + Sync>,
    parser: vt100::Parser,
    output: Receiver<Vec<u8>>,
    /// Everything that the program wrote.
    pub(crate) bytes: Vec<u8>,
    input: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    /// Kept open so that the terminal outlives the program.
    _slave: Box<dyn SlavePty + Send>,
}

/// Prepares the program over the folders of a world.
pub(crate) fn command(home: &Path, tmp: &Path) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_claimtop"));
    command.env_clear();
    command.env("TERM", "xterm-256color");
    command.env("HOME", home);
    command.args([Path::new("--home"), home, Path::new("--tmp"), tmp]);
    command
}

impl Screen {
    pub(crate) fn open(command: CommandBuilder, columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).unwrap();
        let child = pty.slave.spawn_command(command).unwrap();
        let mut reader = pty.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 65_536];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer.get(..read).unwrap_or_default().to_vec()).is_err() {
                    break;
                }
            }
        });
        let input = pty.master.take_writer().unwrap();
        Self {
            child,
            parser: vt100::Parser::new(rows, columns, 0),
            output,
            bytes: Vec::new(),
            input,
            master: pty.master,
            _slave: pty.slave,
        }
    }

    /// Reads what comes within a tenth of a second; returns whether more can come.
    fn read(&mut self) -> bool {
        match self.output.recv_timeout(Duration::from_millis(100)) {
            Ok(bytes) => {
                self.parser.process(&bytes);
                self.bytes.extend(bytes);
                true
            }
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => false,
        }
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        for _ in 0..TRIES {
            if is_so(self.parser.screen()) {
                return;
            }
            self.read();
        }
        panic!("the screen never {what}:\n{}", self.parser.screen().contents());
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("showed {text:?}"), |screen| screen.contents().contains(text));
    }

    /// Waits until a text is gone.
    #[track_caller]
    pub(crate) fn wait_without(&mut self, text: &str) {
        self.wait_until(&format!("lost {text:?}"), |screen| !screen.contents().contains(text));
    }

    /// Waits until so many bytes were written in all.
    #[track_caller]
    pub(crate) fn wait_for_bytes(&mut self, count: usize) {
        for _ in 0..TRIES {
            if self.bytes.len() >= count {
                return;
            }
            self.read();
        }
        panic!("only {} bytes were written", self.bytes.len());
    }

    pub(crate) fn contents(&self) -> String {
        self.parser.screen().contents()
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.screen_mut().set_size(rows, columns);
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).unwrap();
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.process_id().unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Returns whether the terminal is in its ordinary mode.
    pub(crate) fn is_cooked(&self) -> bool {
        is_cooked(&*self.master)
    }

    /// Waits for the end and returns the exit code; what was still written is read.
    #[track_caller]
    pub(crate) fn end(&mut self) -> u32 {
        for _ in 0..TRIES {
            self.read();
            if let Some(status) = self.child.try_wait().unwrap() {
                while self.output.try_recv().map(|bytes| self.take(&bytes)).is_ok() {}
                return status.exit_code();
            }
        }
        panic!("the program never ended:\n{}", self.parser.screen().contents());
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.bytes.extend(bytes);
    }

    /// Quits and returns the exit code.
    #[track_caller]
    pub(crate) fn quit(&mut self) -> u32 {
        self.press("q");
        self.end()
    }

    pub(crate) fn is_on_alternate_screen(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    pub(crate) fn hides_cursor(&self) -> bool {
        self.parser.screen().hide_cursor()
    }
}

/// Returns whether a terminal is in its ordinary mode: lines, with echo.
pub(crate) fn is_cooked(master: &dyn MasterPty) -> bool {
    let modes = master.get_termios().unwrap();
    let wanted = flags::ICANON | flags::ECHO;
    u64::from(modes.local_flags.bits()) & wanted == wanted
}

/// The flags of termios(3) that matter, by their value on Linux.
mod flags {
    pub(super) const ICANON: u64 = 0o2;
    pub(super) const ECHO: u64 = 0o10;
}
