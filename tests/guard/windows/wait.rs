//! `wait`, over a real process and its registry entry.

use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::work::Window;
use crate::world::World;

/// Starts to wait.
fn start(world: &World, name: &str, until: &str) -> Child {
    let mut command = world.command(&["wait", name, "--until", until]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Starts to wait, and returns once it follows the window: it has seen it then.
fn follows(world: &World, name: &str, until: &str, window: u32) -> Child {
    let child = start(world, name, until);
    while !has_pidfd(child.id(), window) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Returns whether a process has a pidfd of another one open (`Pid` in `/proc/PID/fdinfo`, pidfd_open(2)).
fn has_pidfd(holder: u32, pid: u32) -> bool {
    let is_of_window = |text: String| text.lines().any(|line| line == format!("Pid:\t{pid}"));
    let all = std::fs::read_dir(format!("/proc/{holder}/fdinfo")).unwrap();
    let mut texts = all.flatten().filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    texts.any(is_of_window)
}

/// Returns how a wait ended.
fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap().trim().to_owned())
}

#[test]
fn it_returns_when_the_window_asks_ends_its_turn_or_ends() {
    let world = World::new();
    let mut window = Window::start(&world);
    window.registers(&json!({ "status": "busy" }));
    window.check(&["ls", "--json"], |found| found["doing"] == "working");
    let name = window.process.id().to_string();
    let given_up = world.run(&["wait", &name, "--until", "dead", "--timeout", "1"]);
    assert_eq!((given_up.code, given_up.out.as_str()), (1, ""), "{given_up:?}");
    assert!(given_up.err.contains("not within 1 s: shop: working"), "{given_up:?}");
    let given_up = world.run(&["wait", &name, "--until", "dead", "--timeout", "1", "--json"]);
    let shown: Value = serde_json::from_str(&given_up.out).unwrap();
    assert_eq!((given_up.code, given_up.err.as_str()), (1, ""), "{given_up:?}");
    let expected = json!({
        "schema": "claimtop.wait.v1", "taken_at": shown["taken_at"], "subject": name, "until": "dead",
        "end": "timed-out", "detail": "not within 1 s: shop: working",
    });
    assert!(shown == expected && shown["taken_at"].is_string(), "{shown}");

    let pid = window.process.id();
    let [waits, turn, dead] = ["waits", "your-turn", "dead"].map(|until| follows(&world, &name, until, pid));
    window.registers(&json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    assert_eq!(ended(waits), (Some(0), "shop: asks you".to_owned()));
    window.registers(&json!({ "status": "idle" }));
    assert_eq!(ended(turn), (Some(0), "shop: your turn".to_owned()));
    let asks = follows(&world, &name, "waits", pid);
    window.process.kill().unwrap();
    window.process.wait().unwrap();
    assert_eq!(ended(dead), (Some(0), "shop has ended".to_owned()));
    let (code, text) = ended(asks);
    assert!(code == Some(1) && text.ends_with("shop has ended"), "{code:?} {text}");
}

#[test]
fn it_says_in_json_how_it_ended() {
    let world = World::new();
    let mut window = Window::start(&world);
    window.registers(&json!({ "status": "idle" }));
    window.check(&["ls", "--json"], |found| found["doing"] == "your-turn");
    let name = window.process.id().to_string();
    let end = |until: &str| {
        let answer = world.run(&["wait", &name, "--until", until, "--json"]);
        let shown: Value = serde_json::from_str(&answer.out).unwrap();
        (answer.code, shown["until"].clone(), shown["end"].clone())
    };
    assert_eq!(end("your-turn"), (0, "your-turn".into(), "reached".into()));
    let waits = follows(&world, &name, "waits", window.process.id());
    window.process.kill().unwrap();
    window.process.wait().unwrap();
    assert_eq!(ended(waits).0, Some(1));
}

#[test]
fn a_claim_is_free_once_nothing_names_it() {
    let world = World::new();
    let window = Window::start(&world);
    window.registers(&json!({ "status": "busy" }));
    window.check(&["ls", "--json"], |found| found["claims"][0].is_string());
    let report: Value = serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap();
    let claim = report["claims"][0]["key"].as_str().unwrap();
    let held = world.run(&["wait", claim, "--until", "free", "--timeout", "1"]);
    assert!(held.code == 1 && held.err.contains(": held by shop"), "{held:?}");
    let free = follows(&world, claim, "free", window.process.id());
    let entry = world.path(&format!("home/.claude/sessions/{}.json", window.process.id()));
    std::fs::remove_file(entry).unwrap();
    let (code, text) = ended(free);
    assert!(code == Some(0) && text.ends_with(": free"), "{code:?} {text}");
}

/// What can no longer be read says nothing of a claim, and nothing of a turn.
#[test]
fn a_record_that_is_cut_off_or_away_is_neither_free_nor_your_turn() {
    for harm in ["empty", "half", "away"] {
        let world = World::new();
        let window = Window::start(&world);
        let pid = window.process.id();
        window.registers(&json!({ "status": "busy" }));
        window.check(&["ls", "--json"], |found| found["claims"][0].is_string());
        let report: Value = serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap();
        let claim = report["claims"][0]["key"].as_str().unwrap();
        let free = follows(&world, claim, "free", pid);
        let turn = follows(&world, &pid.to_string(), "your-turn", pid);
        let entry = world.path(&format!("home/.claude/sessions/{pid}.json"));
        let text = std::fs::read_to_string(&entry).unwrap();
        match harm {
            "empty" => std::fs::write(&entry, "").unwrap(),
            "half" => std::fs::write(&entry, &text[..text.len() / 2]).unwrap(),
            _ => std::fs::rename(world.path("home/.claude"), world.path("home/.elsewhere")).unwrap(),
        }
        window.check(&["ls", "--json"], |found| found["records"].as_array().is_some_and(Vec::is_empty));
        // They have a look of their own after that, and then more.
        std::thread::sleep(Duration::from_millis(1_500));
        for mut child in [free, turn] {
            assert!(child.try_wait().unwrap().is_none(), "{harm}");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn however_short_the_time_is_it_looks_once() {
    let world = World::new();
    let window = Window::start(&world);
    window.registers(&json!({ "status": "idle" }));
    window.check(&["ls", "--json"], |found| found["doing"] == "your-turn");
    let name = window.process.id().to_string();
    let most = u64::MAX.to_string();
    for seconds in ["0", most.as_str()] {
        let answer = world.run(&["wait", &name, "--until", "your-turn", "--timeout", seconds]);
        assert_eq!((answer.code, answer.out.as_str()), (0, "shop: your turn\n"), "{answer:?}");
    }
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    let world = World::new();
    let window = Window::start(&world);
    window.registers(&json!({ "status": "busy" }));
    window.check(&["ls", "--json"], |found| found["doing"] == "working");
    let name = window.process.id().to_string();
    for (name, until, why) in [
        ("nobody-is-called-so", "dead", "nothing here is called"),
        (&name, "free", "is no single claim"),
        (&name, "tea", "invalid value"),
    ] {
        let answer = world.run(&["wait", name, "--until", until]);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{answer:?}");
        assert!(answer.err.contains(why), "{answer:?}");
    }
}
