//! A small world to show, and further checks of a screen in it.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use portable_pty::{CommandBuilder, MasterPty, native_pty_system};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{ControlModes, InputModes, LocalModes, OutputModes, tcgetattr};

use crate::pty::{Screen, cells, claimtop};

/// A home and a temporary folder with a session that no process holds and one of an older form.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// Arguments of `unshare` for a test that measures the program's cost: processes of other tests would add to it.
pub(crate) const OWN_PROCESSES: [&str; 4] = ["--pid", "--fork", "--kill-child", "--mount-proc"];

/// A process that looks like an agent, and ends with its test.
pub(crate) struct Agent(Child);

impl Agent {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Ends it and reaps it.
    pub(crate) fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.end();
    }
}

/// A terminal's modes for input and output.
pub(crate) type Modes = (InputModes, OutputModes, ControlModes, LocalModes);

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        let text = |agent: &str| {
            format!(
                r#"{{"current_agent":"{agent}","session_start":"2026-11-20T21:40:34.370794","query":"why"}}"#
            )
        };
        world.write("home/.maia/sessions/swarm_session_alpha.json", &text("alpha_agent"));
        world.write("tmp/maia_active_swarm_session.json", &text("omega_agent"));
        world
    }

    pub(crate) fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file =
            File::options().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Mounts a small disk of its own over a folder, such as one of `4k`; in a mount namespace.
    pub(crate) fn small_disk(&self, below: &str, size: &str) -> PathBuf {
        let folder = self.path(below);
        std::fs::create_dir_all(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "none"]).arg(&folder);
        assert!(mount.status().unwrap().success());
        folder
    }

    /// Prepares the program with more arguments and environment.
    pub(crate) fn command(&self, more: &[&str], environment: &[(&str, &str)]) -> CommandBuilder {
        let folder = |below| self.path(below).to_string_lossy().into_owned();
        let mut arguments = vec!["--home".to_owned(), folder("home"), "--tmp".to_owned(), folder("tmp")];
        arguments.extend(more.iter().map(|&argument| argument.to_owned()));
        let mut command = claimtop(&arguments);
        for (name, value) in environment {
            command.env(name, value);
        }
        command
    }

    /// Starts a process that looks like Claude Code.
    pub(crate) fn agent(&self) -> Agent {
        self.agent_in(Path::new("."))
    }

    /// Starts one in a folder.
    pub(crate) fn agent_in(&self, folder: &Path) -> Agent {
        let program = self.path("bin/@anthropic-ai/claude-code/claude");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        if !program.exists() {
            crate::program::copy("/bin/sleep", &program);
        }
        let mut command = Command::new(program);
        command.arg("3600").env("HOME", self.path("home")).current_dir(folder).stdin(Stdio::null());
        Agent(crate::program::spawn(&mut command))
    }

    /// Registers an agent under a name, as Claude Code does.
    pub(crate) fn register(&self, pid: u32, name: &str) {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
        let text = format!(
            r#"{{"pid":{pid},"sessionId":"95fe798d-3725-4649-974a-{pid:012}","procStart":"{start}","name":"{name}"}}"#
        );
        self.write(&format!("home/.claude/sessions/{pid}.json"), &text);
    }

    /// Opens the screen and waits until it shows the first look.
    #[track_caller]
    pub(crate) fn open(&self, columns: u16, rows: u16) -> Screen {
        let mut screen = Screen::start(self.command(&[], &[]), columns, rows);
        screen.wait_for_sessions();
        screen
    }
}

impl Screen {
    /// Goes to the sessions and waits for one.
    #[track_caller]
    pub(crate) fn wait_for_sessions(&mut self) {
        self.wait_for("claimtop");
        self.press("3");
        self.wait_for("alpha_agent");
    }

    /// Presses Esc and waits until `shown` is gone: two in one go are one to a terminal.
    #[track_caller]
    pub(crate) fn close(&mut self, shown: &str) {
        self.press("\u{1b}");
        self.wait_until(&format!("an end of {shown:?}"), |screen| !screen.shows(shown));
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.process_id().unwrap().cast_signed()).unwrap()
    }

    /// Returns the letter of the program's state, such as `T` for stopped.
    pub(crate) fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        stat.rsplit(") ").next().unwrap().chars().next().unwrap()
    }

    pub(crate) fn line(&self) -> File {
        line_of(&**self.master.as_ref().unwrap())
    }

    pub(crate) fn modes(&self) -> Modes {
        modes_of(&self.line())
    }

    /// Returns whether the program has taken over the terminal.
    pub(crate) fn is_taken(&self) -> bool {
        let screen = self.parser.screen();
        screen.alternate_screen() && screen.hide_cursor() && !self.modes().3.contains(LocalModes::ICANON)
    }

    /// Fails unless the terminal is as a shell wants it.
    #[track_caller]
    pub(crate) fn check_given_back(&self) {
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen was not left");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert!(self.modes().3.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG));
        assert_eq!(self.modes(), fresh_modes());
    }
}

/// Opens a terminal's program side, without taking it over.
pub(crate) fn line_of(master: &dyn MasterPty) -> File {
    let flags = i32::try_from((OFlags::NOCTTY | OFlags::NONBLOCK).bits()).unwrap();
    File::options().read(true).write(true).custom_flags(flags).open(master.tty_name().unwrap()).unwrap()
}

pub(crate) fn modes_of(line: &File) -> Modes {
    let modes = tcgetattr(line).unwrap();
    (modes.input_modes, modes.output_modes, modes.control_modes, modes.local_modes)
}

/// Returns the modes of a terminal that no program has changed.
pub(crate) fn fresh_modes() -> Modes {
    let pty = native_pty_system().openpty(cells(80, 24)).unwrap();
    modes_of(&line_of(&*pty.master))
}
