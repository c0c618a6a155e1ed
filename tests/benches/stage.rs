//! The common parts of the screen's benchmarks: a world of its own, and a program on a terminal of 200x50.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Returns the program to measure: the named one, such as a packaged one, or the one that was just built.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("CLAIMTOP_BENCH_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_claimtop").into(), PathBuf::from)
}

/// A home and a temporary folder, and a stand-in for an agent.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        for below in ["home/.claude/sessions", "home/.maia/sessions", "tmp", "bin/@anthropic-ai/claude-code"]
        {
            std::fs::create_dir_all(world.path(below)).unwrap();
        }
        std::fs::copy("/bin/sleep", world.path("bin/@anthropic-ai/claude-code/claude")).unwrap();
        world
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn claimtop(&self) -> CommandBuilder {
        let mut command = CommandBuilder::new(program());
        command.args([Path::new("--home"), &self.path("home"), Path::new("--tmp"), &self.path("tmp")]);
        command
    }

    pub(crate) fn agent(&self) -> Child {
        let program = self.path("bin/@anthropic-ai/claude-code/claude");
        Command::new(program).arg("600").stdin(Stdio::null()).spawn().unwrap()
    }

    pub(crate) fn register(&self, pid: u32, status: &str) {
        self.register_as(pid, "alpha", status);
    }

    pub(crate) fn register_as(&self, pid: u32, name: &str, status: &str) {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
        let text = format!(
            r#"{{"pid":{pid},"sessionId":"95fe798d-3725-4649-974a-{pid:012}","procStart":"{start}","kind":"interactive","name":"{name}","status":"{status}"}}"#
        );
        let path = self.path(&format!("home/.claude/sessions/{pid}.json"));
        std::fs::write(path, text).unwrap();
    }
}

/// A program on a terminal whose output is read.
pub(crate) struct Screen {
    pub(crate) child: Box<dyn portable_pty::Child + Send + Sync>,
    pub(crate) output: Receiver<(Instant, Vec<u8>)>,
    pub(crate) picture: vt100::Parser,
    pub(crate) master: Box<dyn MasterPty + Send>,
}

impl Screen {
    pub(crate) fn open(mut command: CommandBuilder) -> Self {
        command.env("TERM", "xterm-256color");
        let size = PtySize { rows: 50, cols: 200, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).unwrap();
        let child = pty.slave.spawn_command(command).unwrap();
        let mut reader = pty.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 65_536];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if sender.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                    break;
                }
            }
        });
        Self { child, output, picture: vt100::Parser::new(50, 200, 0), master: pty.master }
    }

    /// Waits until the screen is as wanted; returns when it became so.
    pub(crate) fn until(&mut self, is_so: impl Fn(&str) -> bool) -> Instant {
        let mut at = Instant::now();
        while !is_so(&self.picture.screen().contents()) {
            let next = self.output.recv_timeout(Duration::from_secs(20));
            if next.is_err() {
                eprintln!("nothing changes any more:\n{}", self.picture.screen().contents());
            }
            let (when, bytes) = next.expect("an output");
            self.picture.process(&bytes);
            at = when;
        }
        at
    }

    /// Returns whether the program has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Counts the outputs during this time.
    pub(crate) fn outputs(&self, during: Duration) -> usize {
        let end = Instant::now() + during;
        let mut count = 0;
        while self.output.recv_timeout(end.saturating_duration_since(Instant::now())).is_ok() {
            count += 1;
        }
        count
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Returns the CPU time of all threads in milliseconds, and how often they have slept.
    pub(crate) fn spent(&self) -> (f64, f64) {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        let (mut cpu_ms, mut sleeps) = (0.0, 0.0);
        for task in tasks {
            let task = task.unwrap().path();
            let schedstat = std::fs::read_to_string(task.join("schedstat")).unwrap();
            cpu_ms += schedstat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6;
            let status = std::fs::read_to_string(task.join("status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            sleeps += line.unwrap().trim().parse::<f64>().unwrap();
        }
        (cpu_ms, sleeps)
    }

    pub(crate) fn resident_mib(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap() / 1_024.0
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // One that has ended by itself cannot be ended once more.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// Returns the rows of the table, without the panel beside it, which names windows of other rows.
pub(crate) fn table_rows(picture: &str) -> impl Iterator<Item = &str> {
    picture.lines().map(|line| line.split(['│', '┃']).next().unwrap_or_default())
}

/// Lets the screen run for a while, and reads its output meanwhile.
pub(crate) fn settle(screen: &mut Screen, during: Duration) {
    let end = Instant::now() + during;
    while let Ok((_, bytes)) = screen.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
        screen.picture.process(&bytes);
    }
}

pub(crate) fn ms(since: Instant, at: Instant) -> f64 {
    at.saturating_duration_since(since).as_secs_f64() * 1e3
}

/// Prints median, 99th percentile and maximum; returns the median.
pub(crate) fn spread(name: &str, times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times.get(((times.len() - 1) as f64 * part).round() as usize).copied().unwrap();
    println!("{name:40} median {:7.2} ms, p99 {:7.2} ms, most {:7.2} ms", at(0.5), at(0.99), at(1.0));
    at(0.5)
}

pub(crate) fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
