//! The whole program over real processes and real files: a stand-in agent lives, is killed,
//! and its PID is forced to be reused.
//!
//! Every process that is ended here was started here and is ended by its own handle.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start processes and say by panicking what is wrong"
)]

#[path = "common/program.rs"]
mod program;
#[path = "common/pty.rs"]
mod pty;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pty::Screen;
use serde_json::Value;

const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// A home and a tmp of its own, with a program that looks like Claude Code.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for below in ["home/.claude/sessions", "tmp", "opt/node_modules/@anthropic-ai/claude-code/bin"] {
            std::fs::create_dir_all(folder.path().join(below)).unwrap();
        }
        let world = Self { folder };
        program::copy("/bin/sleep", world.agent());
        world
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn agent(&self) -> PathBuf {
        self.path("opt/node_modules/@anthropic-ai/claude-code/bin/claude")
    }

    fn start_agent(&self) -> Child {
        Command::new(self.agent())
            .arg("600")
            .stdin(Stdio::null())
            .current_dir(self.path("home"))
            .env("HOME", self.path("home"))
            .spawn()
            .unwrap()
    }

    fn register(&self, pid: u32, ticks: u64) {
        let text = format!(
            r#"{{"pid":{pid},"sessionId":"{SESSION}","cwd":"/x","startedAt":1,"procStart":"{ticks}","kind":"interactive","name":"alpha","status":"idle"}}"#
        );
        std::fs::write(self.path(&format!("home/.claude/sessions/{pid}.json")), text).unwrap();
    }

    fn arguments(&self) -> Vec<String> {
        let text = |below| self.path(below).to_string_lossy().into_owned();
        vec!["--home".into(), text("home"), "--tmp".into(), text("tmp")]
    }

    fn screen(&self, columns: u16, rows: u16) -> Screen {
        Screen::start(pty::claimtop(&self.arguments()), columns, rows)
    }

    fn look(&self) -> Value {
        let out = Command::new(env!("CARGO_BIN_EXE_claimtop"))
            .args(self.arguments())
            .args(["ls", "--json"])
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }
}

fn start_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap()
}

fn verdict(report: &Value) -> (String, String) {
    let verdict = &report["records"][0]["verdict"];
    (verdict["state"].as_str().unwrap().to_owned(), verdict["reason"].as_str().unwrap().to_owned())
}

fn codes(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

fn window_pids(report: &Value) -> Vec<u64> {
    let windows = report["windows"].as_array().unwrap();
    windows.iter().map(|window| window["pid"].as_u64().unwrap()).collect()
}

#[test]
fn a_killed_agent_turns_from_alive_over_exited_to_dead() {
    let world = World::new();
    let mut agent = world.start_agent();
    world.register(agent.id(), start_ticks(agent.id()));

    let report = world.look();
    assert_eq!(verdict(&report), ("alive".into(), "same-process".into()));
    assert!(window_pids(&report).contains(&u64::from(agent.id())));

    agent.kill().unwrap();
    wait_for_zombie(agent.id());
    let report = world.look();
    assert_eq!(verdict(&report), ("dead".into(), "exited".into()), "killed and not yet reaped");
    assert!(!window_pids(&report).contains(&u64::from(agent.id())));

    agent.wait().unwrap();
    let report = world.look();
    assert_eq!(verdict(&report).0, "dead");
    assert_eq!(report["claims"][0]["status"], "dead");
    assert_eq!(report["claims"][0]["releasable"], "yes");
    assert!(codes(&report).contains(&"dead-holder".to_owned()));
}

fn wait_for_zombie(pid: u32) {
    for _ in 0..500 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        if stat.rsplit(')').next().unwrap().trim_start().starts_with('Z') {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{pid} was killed and is no zombie");
}

#[test]
fn a_stopped_agent_keeps_its_claim() {
    let world = World::new();
    let mut agent = world.start_agent();
    world.register(agent.id(), start_ticks(agent.id()));
    let pid = rustix::process::Pid::from_child(&agent);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let report =
        (0..200).map(|_| world.look()).find(|report| codes(report).contains(&"suspended-holder".to_owned()));
    agent.kill().unwrap();
    agent.wait().unwrap();
    let report = report.expect("a stopped holder is told");
    assert_eq!(verdict(&report), ("alive".into(), "same-process".into()));
    assert_eq!(report["claims"][0]["status"], "held");
}

#[test]
fn the_screen_turns_a_killed_agents_claim_dead_by_itself() {
    for (columns, rows) in [(80, 24), (200, 50), (60, 15)] {
        let world = World::new();
        let mut agent = world.start_agent();
        world.register(agent.id(), start_ticks(agent.id()));
        let mut screen = world.screen(columns, rows);
        screen.wait_for("claimtop");
        screen.press("3");
        screen.wait_for("held");
        agent.kill().unwrap();
        agent.wait().unwrap();
        screen.wait_for("dead");
        assert_eq!(screen.end(), 0, "{columns}x{rows}");
    }
}

#[test]
fn a_late_and_a_vanishing_folder_are_followed() {
    let world = World::new();
    let maia = world.path("home/.maia/sessions");
    let mut screen = world.screen(100, 30);
    screen.wait_for("claimtop");
    screen.press("2");
    std::fs::create_dir_all(&maia).unwrap();
    let text = r#"{"current_agent":"late_agent","session_start":"2026-11-20T21:40:34.370794"}"#;
    std::fs::write(maia.join("swarm_session_99.json"), text).unwrap();
    screen.wait_for("late_agent");
    std::fs::remove_dir_all(world.path("home/.maia")).unwrap();
    screen.wait_until("the record gone with its folder", |screen| !screen.shows("late_agent"));
    assert_eq!(screen.end(), 0);
}

#[test]
fn hostile_names_and_texts_reach_no_terminal() {
    let world = World::new();
    let sessions = world.path("home/.maia/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let nasty = "\\u001b[31mred\\u0007\\u202ertl\\u200b\\ue0041";
    let marks = "\u{301}".repeat(5_000);
    let text = format!(
        r#"{{"current_agent":"{nasty}{marks}","session_start":"{nasty}","domain":"{nasty}","query":"{nasty}"}}"#
    );
    std::fs::write(sessions.join("swarm_session_4711.json"), text).unwrap();
    std::fs::write(Path::new(&sessions).join("swarm_session_\u{1b}[2J\u{202e}.json"), "{}").unwrap();
    for arguments in [&["ls", "sessions"][..], &["ls", "--json"], &["doctor"], &["explain", "4711"]] {
        let out = Command::new(env!("CARGO_BIN_EXE_claimtop"))
            .args(world.arguments())
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        let raw: Vec<char> =
            text.chars().filter(|c| *c != '\n' && claimtop::core::text::is_forbidden(*c)).collect();
        assert!(raw.is_empty(), "{arguments:?} printed {raw:?}");
        assert!(!text.is_empty(), "{arguments:?} printed nothing");
    }
    let mut screen = world.screen(120, 30);
    screen.wait_for("claimtop");
    screen.press("2");
    screen.wait_for("\\x1B[31mred");
    assert_eq!(screen.end(), 0);
}
