//! Descents that one claimtop saw below a window, as used by another one after both have ended.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::namespaces::stage::World;

/// A window that has started a process which erased its environment; both end with this.
struct Window {
    shell: Child,
    child: u32,
}

impl Window {
    fn new(world: &World) -> Self {
        let program = world.path("bin/@anthropic-ai/claude-code/claude");
        std::fs::remove_file(&program).unwrap();
        crate::program::copy("/bin/sh", program.clone());
        let script = "env -i sleep 3600 </dev/null >/dev/null 2>&1 & echo $!; read x";
        std::fs::write(world.path("home/window.sh"), script).unwrap();
        let mut shell = Command::new(program);
        shell.arg("window.sh").env_clear().env("PATH", "/usr/bin:/bin").env("HOME", world.path("home"));
        let mut shell = shell
            .current_dir(world.path("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = BufReader::new(shell.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        let child = told.parse().unwrap();
        wait(|| std::fs::read(format!("/proc/{child}/comm")).unwrap() == b"sleep\n");
        // Only processes that started before the tick of a look are noted.
        wait(|| ticks_up() > start_ticks(child) + 3);
        Self { shell, child }
    }

    fn end(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.end();
        Command::new("/bin/kill").args(["-9", &self.child.to_string()]).status().unwrap();
    }
}

/// Returns when a process started.
fn start_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap()
}

/// Returns the machine's uptime, in ticks of 10 ms.
fn ticks_up() -> u64 {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    uptime.split_whitespace().next().unwrap().replace('.', "").parse().unwrap()
}

fn wait(mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "it has not come about");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A claimtop that looks repeatedly, until its input ends.
struct Following {
    claimtop: Child,
    said: BufReader<ChildStdout>,
}

impl Following {
    fn new(world: &World, options: &[&str]) -> Self {
        let mut claimtop = Command::new(env!("CARGO_BIN_EXE_claimtop"))
            .arg("--home")
            .arg(world.path("home"))
            .arg("--tmp")
            .arg(world.path("tmp"))
            .args(options)
            .arg("stream")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(claimtop.stdout.take().unwrap());
        Self { claimtop, said }
    }

    /// Waits until it prints a line with this text.
    fn wait_for(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it ended before it said {text}");
        }
    }

    fn end(mut self) {
        drop(self.claimtop.stdin.take());
        self.said.read_to_end(&mut Vec::new()).unwrap();
        assert!(self.claimtop.wait().unwrap().success());
    }
}

fn file(world: &World) -> PathBuf {
    world.path("home/.local/state/claimtop/descents.jsonl")
}

/// Returns a command's entry for a left-over with this PID.
fn told(world: &World, pid: u32) -> Option<Value> {
    let claimtop = std::path::Path::new(env!("CARGO_BIN_EXE_claimtop"));
    let report: Value = serde_json::from_slice(&world.run(claimtop, &[], &["leftovers", "--json"])).unwrap();
    report["left_overs"].as_array().unwrap().iter().find(|one| one["pid"] == pid).cloned()
}

#[test]
fn a_command_knows_what_was_seen_below_a_window_that_ended_before() {
    let world = World::new();
    let mut window = Window::new(&world);
    let mut following = Following::new(&world, &[]);
    following.wait_for(&format!("\"pid\":{}", window.shell.id()));
    assert!(!file(&world).exists(), "who lives needs none");
    window.end();
    wait(|| file(&world).exists());
    following.end();
    let one = told(&world, window.child).unwrap();
    assert_eq!((&one["window_pid"], &one["agent"]), (&window.shell.id().into(), &"claude-code".into()));
    let evidence = one["evidence"].as_array().unwrap();
    assert!(evidence.iter().any(|evidence| evidence["fact"] == "seen"), "{evidence:?}");
    let text = std::fs::read_to_string(file(&world)).unwrap();
    let start = start_ticks(window.child);
    let other_start = text.replace(&format!("\"start_ticks\":{start}"), "\"start_ticks\":1");
    assert_ne!(text, other_start);
    std::fs::write(file(&world), other_start).unwrap();
    assert_eq!(told(&world, window.child), None, "its PID was another process's");
    std::fs::write(file(&world), text).unwrap();
    assert!(told(&world, window.child).is_some());
    let claimtop = std::path::Path::new(env!("CARGO_BIN_EXE_claimtop"));
    world.run(claimtop, &[], &["doctor", "--self", "--drop-tombstones"]);
    assert_eq!(told(&world, window.child), None, "nobody remembers it");
}

#[test]
fn whoever_may_change_nothing_keeps_nothing() {
    let world = World::new();
    let mut window = Window::new(&world);
    let mut following = Following::new(&world, &["--read-only"]);
    let pid = format!("\"pid\":{}", window.shell.id());
    following.wait_for(&pid);
    window.end();
    following.wait_for("\"ended\":[{");
    // The next look comes after the lesson of the one before was kept, or was not.
    let mut next = Window::new(&world);
    following.wait_for(&format!("\"pid\":{}", next.shell.id()));
    next.end();
    following.end();
    assert!(!world.path("home/.local/state").exists());
}
