//! The whole program over real processes and real files: a stand-in agent lives, is killed, and its PID is forced to
//! be reused.
//!
//! Every process that is ended here was started here and is ended by its own handle.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::alone;
use crate::missing;
use crate::program;
use crate::pty;
use crate::pty::Screen;

const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// A home and a temporary folder of its own, with a program that looks like Claude Code.
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
        self.start_agent_in("home")
    }

    fn start_agent_in(&self, folder: &str) -> Child {
        let folder = self.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut command = Command::new(self.agent());
        command.arg("600").stdin(Stdio::null()).current_dir(folder).env("HOME", self.path("home"));
        program::spawn(&mut command)
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

    /// Returns the arguments for a home that the environment names: only then is `PATH` searched.
    fn at_home(&self) -> Vec<String> {
        self.arguments().split_off(2)
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

/// A process that ends with its test.
struct Stand(Child);

impl Stand {
    fn read_line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
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
    let _alone = alone();
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
fn a_window_that_dies_before_ones_eyes_stays_until_it_is_acknowledged_or_resumed() {
    let _alone = alone();
    let world = World::new();
    let (mut plain, mut named) = (world.start_agent_in("vanishing"), world.start_agent());
    let mut stranger = world.start_agent_in("stranger");
    world.register(named.id(), start_ticks(named.id()));
    let mut screen = world.screen(120, 30);
    screen.wait_for("alpha");
    for agent in [&mut stranger, &mut plain] {
        agent.kill().unwrap();
        agent.wait().unwrap();
    }
    // Other agents come and go beside these: the filter excludes them.
    screen.press("/vanishing\r");
    screen.wait_until("its death alone", |screen| {
        screen.shows("vanishing (claude-code) died") && !screen.shows("stranger (claude-code) died")
    });
    screen.wait_for("left nothing");
    screen.press("g");
    screen.wait_for("a seen");
    screen.press("a");
    screen.wait_for("Nothing here matches vanishing");
    screen.press("\u{1b}/alpha\r");
    screen.wait_until("it alone", |screen| screen.shows("alpha") && !screen.shows("stranger"));
    named.kill().unwrap();
    named.wait().unwrap();
    screen.wait_for("alpha died");
    screen.wait_for("left 1 claim");
    screen.press("g");
    screen.wait_for(&format!("claude --resume {SESSION}"));
    let mut again = world.start_agent();
    world.register(again.id(), start_ticks(again.id()));
    screen.wait_until("no death", |screen| !screen.shows("alpha died") && screen.shows("○ your turn  alpha"));
    assert_eq!(screen.end(), 0);
    again.kill().unwrap();
    again.wait().unwrap();
}

#[test]
fn no_frame_says_that_nothing_runs_before_the_first_look() {
    let _alone = alone();
    let world = World::new();
    let agent = Stand(world.start_agent());
    world.register(agent.0.id(), start_ticks(agent.0.id()));
    for (columns, rows) in [(60, 15), (80, 24), (200, 50)] {
        let mut screen = world.screen(columns, rows);
        screen.wait_for("alpha");
        let written = String::from_utf8_lossy(&screen.written).into_owned();
        for nothing in ["0 windows", "windows unknown", "No agent window"] {
            let before = written.split("alpha").next().unwrap();
            assert!(!before.contains(nothing), "{nothing} at {columns}x{rows}: {before:?}");
        }
        assert!(!written.contains("claimtop: 0 windows"), "a title says so: {written:?}");
        assert_eq!(screen.end(), 0);
    }
}

#[test]
fn a_stopped_agent_keeps_its_claim() {
    let _alone = alone();
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
    let _alone = alone();
    for (columns, rows) in [(80, 24), (200, 50), (60, 15)] {
        let world = World::new();
        let mut agent = world.start_agent();
        world.register(agent.id(), start_ticks(agent.id()));
        let mut screen = world.screen(columns, rows);
        screen.wait_for("claimtop");
        screen.press("4");
        screen.wait_for("held");
        agent.kill().unwrap();
        agent.wait().unwrap();
        screen.wait_for("dead");
        assert_eq!(screen.end(), 0, "{columns}x{rows}");
    }
}

#[test]
fn a_late_and_a_vanishing_folder_are_followed() {
    let _alone = alone();
    let world = World::new();
    let maia = world.path("home/.maia/sessions");
    let mut screen = world.screen(100, 30);
    screen.wait_for("claimtop");
    screen.press("3");
    std::fs::create_dir_all(&maia).unwrap();
    let text = r#"{"current_agent":"late_agent","session_start":"2026-11-20T21:40:34.370794"}"#;
    std::fs::write(maia.join("swarm_session_4000099.json"), text).unwrap();
    screen.wait_for("late_agent");
    std::fs::remove_dir_all(world.path("home/.maia")).unwrap();
    screen.wait_until("the record gone with its folder", |screen| !screen.shows("late_agent"));
    assert_eq!(screen.end(), 0);
}

/// The age from which a process is no longer read at every look, and a second (`SETTLED_AFTER`).
const OLD: Duration = Duration::from_secs(11);

/// Starts a shell that becomes the agent when its input has a line, and lets it grow old: then no process is new, and
/// older ones are read in full only every other minute.
fn old_shell(world: &World) -> Stand {
    let cwd = world.path("becoming");
    std::fs::create_dir(&cwd).unwrap();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "read line; exec claude 600"]).env_clear().env("PATH", on_path(world));
    shell.env("HOME", world.path("home")).current_dir(cwd).stdin(Stdio::piped());
    let shell = Stand(program::spawn(&mut shell));
    std::thread::sleep(OLD);
    shell
}

fn on_path(world: &World) -> PathBuf {
    world.agent().parent().unwrap().to_path_buf()
}

fn become_agent(shell: &mut Stand) {
    writeln!(shell.0.stdin.take().unwrap()).unwrap();
}

fn write_record(world: &World, name: &str) {
    let sessions = world.path("home/.maia/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let text = format!(r#"{{"current_agent":"{name}","session_start":"2026-11-20T21:40:34.370794"}}"#);
    std::fs::write(sessions.join(format!("swarm_session_{name}.json")), text).unwrap();
}

#[test]
fn the_screen_shows_an_old_shell_that_becomes_an_agent() {
    let _alone = alone();
    let world = World::new();
    let mut shell = old_shell(&world);
    write_record(&world, "early_agent");
    let mut command = pty::claimtop(&world.at_home());
    command.env("HOME", world.path("home"));
    command.env("PATH", on_path(&world));
    let mut screen = Screen::start(command, 120, 30);
    screen.wait_for("claimtop");
    screen.press("3");
    screen.wait_for("early_agent");
    // A record written after one look is in another one, and between them everything was followed.
    write_record(&world, "later_agent");
    screen.wait_for("later_agent");
    screen.press("2");
    assert!(!screen.shows("becoming"), "{}", screen.picture());
    become_agent(&mut shell);
    screen.wait_for("becoming");
    assert_eq!(screen.end(), 0);
}

#[test]
fn events_tell_of_an_old_shell_that_becomes_an_agent() {
    let _alone = alone();
    let world = World::new();
    let mut shell = old_shell(&world);
    write_record(&world, "early_agent");
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    command.args(world.at_home()).args(["events", "--json"]);
    command.env_clear().env("HOME", world.path("home")).env("PATH", on_path(&world));
    let mut events = Stand(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
    let told = told(&mut events);
    wait_for(&told, "early_agent");
    write_record(&world, "later_agent");
    wait_for(&told, "later_agent");
    become_agent(&mut shell);
    let line = wait_for(&told, "/becoming");
    assert_eq!((&line["event"], &line["pid"]), (&"window-appeared".into(), &shell.0.id().into()));
}

/// Reads the lines of a program in another thread, so that waiting for them can end.
fn told(program: &mut Stand) -> Receiver<String> {
    let lines = BufReader::new(program.0.stdout.take().unwrap()).lines();
    let (sender, told) = channel();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
    told
}

/// Waits for a line with this text: for less than the two minutes after which every process is read.
#[track_caller]
fn wait_for(told: &Receiver<String>, text: &str) -> Value {
    for _ in 0..300 {
        let found = told.try_iter().find(|line| line.contains(text));
        if let Some(line) = found {
            return serde_json::from_str(&line).unwrap();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("nothing was told of {text}");
}

#[test]
fn a_record_that_names_a_thread_is_judged_by_its_process() {
    let _alone = alone();
    if !Path::new("/usr/bin/python3").exists() {
        return missing::skip_for_want_of("python3");
    }
    let world = World::new();
    let script = "import threading, time\n\
                  threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n\
                  print(threading.enumerate()[1].native_id, flush=True)\n\
                  time.sleep(600)\n";
    std::fs::create_dir(world.path("bin")).unwrap();
    std::fs::write(world.path("bin/aider"), script).unwrap();
    let mut agent = Command::new("/usr/bin/python3");
    agent.arg(world.path("bin/aider")).env("HOME", world.path("home")).stdin(Stdio::null());
    let mut agent = Stand(agent.stdout(Stdio::piped()).spawn().unwrap());
    let (pid, thread) = (agent.0.id(), agent.read_line().parse().unwrap());
    assert_ne!(thread, pid);
    assert!(std::fs::exists(format!("/proc/{thread}")).unwrap(), "a thread is there and is not listed");

    world.register(thread, start_ticks(pid));
    let report = world.look();
    assert!(window_pids(&report).contains(&u64::from(pid)));
    assert_eq!(verdict(&report), ("alive".into(), "same-process".into()));
    let registry = world.path(&format!("home/.claude/sessions/{thread}.json"));
    std::fs::remove_file(registry).unwrap();
    write_record(&world, &thread.to_string());
    assert_eq!(verdict(&world.look()), ("alive".into(), "process-present".into()));
}

/// The kernel no longer shows its memory under its own number: neither environment nor program.
#[test]
fn a_session_leader_whose_first_thread_has_ended_lives_on_and_is_a_window() {
    let _alone = alone();
    if !Path::new("/usr/bin/python3").exists() {
        return missing::skip_for_want_of("python3");
    }
    let world = World::new();
    let script = "import ctypes, threading, time\n\
                  threading.Thread(target=time.sleep, args=(600,)).start()\n\
                  print(flush=True)\n\
                  ctypes.CDLL(None).pthread_exit(None)\n";
    std::fs::create_dir(world.path("bin")).unwrap();
    std::fs::write(world.path("bin/aider"), script).unwrap();
    // It becomes that program itself: only a leader of a group would have to start another one.
    let mut agent = Command::new("setsid");
    agent.arg("/usr/bin/python3").arg(world.path("bin/aider")).env("HOME", world.path("home"));
    let mut agent = Stand(agent.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
    let pid = agent.0.id();
    agent.read_line();
    world.register(pid, start_ticks(pid));
    let leads = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") Z ");
    while !leads() {
        std::thread::yield_now();
    }
    let report = world.look();
    assert_eq!(verdict(&report), ("alive".into(), "same-process".into()));
    assert!(window_pids(&report).contains(&u64::from(pid)));
}

#[test]
fn hostile_names_and_texts_reach_no_terminal() {
    let _alone = alone();
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
            text.chars().filter(|c| *c != '\n' && claimtop::testing::core::is_forbidden(*c)).collect();
        assert!(raw.is_empty(), "{arguments:?} printed {raw:?}");
        assert!(!text.is_empty(), "{arguments:?} printed nothing");
    }
    let mut screen = world.screen(120, 30);
    screen.wait_for("claimtop");
    screen.press("3");
    screen.wait_for("\\x1B[31mred");
    assert_eq!(screen.end(), 0);
}
