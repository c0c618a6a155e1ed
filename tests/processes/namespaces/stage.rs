//! A world whose agents, and whose claimtop, run wherever a test wants.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A home and a temporary folder that every user may read, with a stand-in for an agent.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// A process that was started in a namespace, and ends with its test.
pub(crate) struct Agent {
    starter: Child,
    /// Its PID where it was started.
    pub(crate) inner: u32,
    /// Its start in ticks, as shown there.
    pub(crate) start: u64,
}

/// A verdict: its state and its reason.
pub(crate) type Verdict = (String, String);

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for below in ["home/.claude/sessions", "home/.maia/sessions", "tmp", "bin/@anthropic-ai/claude-code"]
        {
            std::fs::create_dir_all(world.path(below)).unwrap();
        }
        crate::program::copy("/bin/sleep", world.program());
        std::fs::set_permissions(world.folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        world
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn program(&self) -> PathBuf {
        self.path("bin/@anthropic-ai/claude-code/claude")
    }

    /// Returns a copy of claimtop that every user may start.
    pub(crate) fn copy(&self) -> PathBuf {
        let copy = self.path("bin/claimtop");
        // In a world of its own (tests/alone) a script stands in for it.
        let own = std::env::var_os("CLAIMTOP_TEST_WORLD").map(|world| Path::new(&world).join("claimtop"));
        crate::program::copy(own.unwrap_or_else(|| env!("CARGO_BIN_EXE_claimtop").into()), &copy);
        copy
    }

    /// Starts an agent below the words of `within`, such as `unshare --pid`.
    pub(crate) fn agent(&self, within: &[&str]) -> Agent {
        self.start(within, &self.program())
    }

    /// Starts a process that does not look like an agent.
    pub(crate) fn worker(&self, within: &[&str]) -> Agent {
        crate::program::copy("/bin/sleep", self.path("bin/worker"));
        self.start(within, &self.path("bin/worker"))
    }

    fn start(&self, within: &[&str], program: &Path) -> Agent {
        // The shell stays, so that the agent is not process 1, and ends when its input does.
        let script =
            "\"$0\" 3600 & read -r stat < /proc/$!/stat; echo \"$! $stat\"; read -r end; kill -9 $!; wait";
        let mut starter = within_or_plain(within, Path::new("/bin/sh"))
            .args(["-c", script])
            .arg(program)
            .env("HOME", self.path("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(starter.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        let (pid, stat) = said.split_once(' ').unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap();
        Agent { starter, inner: pid.parse().unwrap(), start: start.parse().unwrap() }
    }

    /// Writes the entry of the agent's own registry, with the numbers that it knows.
    pub(crate) fn register(&self, agent: &Agent) {
        let (pid, start) = (agent.inner, agent.start);
        let text = format!(
            r#"{{"pid":{pid},"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"{start}","name":"alpha"}}"#
        );
        std::fs::write(self.path(&format!("home/.claude/sessions/{pid}.json")), text).unwrap();
    }

    /// Writes a record that contains only a PID.
    pub(crate) fn write_pid_only(&self, pid: u32) {
        let text = r#"{"current_agent":"alpha_agent","session_start":"2026-11-20T21:40:34.370794"}"#;
        std::fs::write(self.path(&format!("home/.maia/sessions/swarm_session_{pid}.json")), text).unwrap();
    }

    /// Looks below the words of `within`, and returns the whole report.
    pub(crate) fn look(&self, within: &[&str]) -> Value {
        self.look_with(Path::new(env!("CARGO_BIN_EXE_claimtop")), within)
    }

    /// Looks with this very program.
    pub(crate) fn look_with(&self, claimtop: &Path, within: &[&str]) -> Value {
        serde_json::from_slice(&self.run(claimtop, within, &["ls", "--json"])).unwrap()
    }

    /// Runs a command of this very program below the words of `within`; returns what it printed.
    pub(crate) fn run(&self, claimtop: &Path, within: &[&str], arguments: &[&str]) -> Vec<u8> {
        let [home, tmp] = ["home", "tmp"].map(|below| self.path(below));
        let mut command = within_or_plain(within, claimtop);
        command.arg("--home").arg(home).arg("--tmp").arg(tmp).args(arguments);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }
}

impl Agent {
    /// Returns the PID, here, of the shell that has started it, in the same mounts.
    pub(crate) fn shell(&self) -> u32 {
        self.starter.id()
    }

    /// Ends it.
    pub(crate) fn end(&mut self) {
        drop(self.starter.stdin.take());
        let _ = self.starter.wait();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.end();
    }
}

fn within_or_plain(within: &[&str], program: &Path) -> Command {
    let Some((first, rest)) = within.split_first() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(rest).arg(program);
    command
}

/// Returns whether the system permits the words of `within`; prints a note if it does not.
pub(crate) fn is_allowed(test: &str, within: &[&str]) -> bool {
    let tried = within_or_plain(within, Path::new("/bin/true")).stdin(Stdio::null()).output();
    let is_allowed = tried.is_ok_and(|output| output.status.success());
    if !is_allowed {
        eprintln!("skipped: {test}: not allowed here: {}", within.join(" "));
    }
    is_allowed
}

/// Returns the verdict of the only record of a format.
#[track_caller]
pub(crate) fn verdict(report: &Value, format: &str) -> Verdict {
    let records = report["records"].as_array().unwrap();
    let of_format: Vec<&Value> = records.iter().filter(|record| record["format"] == format).collect();
    let [record] = of_format.as_slice() else { panic!("{records:#?}") };
    let text = |name: &str| record["verdict"][name].as_str().unwrap().to_owned();
    (text("state"), text("reason"))
}

#[track_caller]
pub(crate) fn check(report: &Value, format: &str, expected: (&str, &str)) {
    let verdict = verdict(report, format);
    assert_eq!((verdict.0.as_str(), verdict.1.as_str()), expected, "{format}");
}
