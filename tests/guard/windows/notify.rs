//! The command that calls a person who is away, from the open screen.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::json;

use super::work::Window;
use crate::pty::{Screen, claimtop};
use crate::world::World;

/// Opens the screen with a configuration, over a window that works.
fn open(world: &World, window: &Window<'_>, configuration: &str) -> Screen {
    let file = world.write("config.toml", configuration);
    let [home, tmp] = ["home", "tmp"].map(|name| world.path(name).to_str().unwrap().to_owned());
    window.registers(&json!({ "status": "busy" }));
    window.check(&["ls", "--json"], |found| found["doing"] == "working");
    let arguments = ["--home", &home, "--tmp", &tmp, "--config", file.to_str().unwrap()].map(str::to_owned);
    let mut screen = Screen::start(claimtop(&arguments), 100, 30);
    screen.wait_for("shop");
    screen.wait_for("working");
    screen
}

#[test]
fn a_new_wait_calls_the_command_once_with_names_and_words_only() {
    let world = World::new();
    let window = Window::start(&world);
    let called = world.path("called");
    let script =
        world.write("call", &format!("#!/bin/sh\nprintf '[%s]\\n' \"$@\" >> {}\n", called.display()));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let command = format!("notify_command = [{:?}, \"to me\"]\n", script.to_str().unwrap());
    let mut screen = open(&world, &window, &command);
    window.registers(&json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    screen.wait_until("a call", |_| std::fs::read_to_string(&called).is_ok_and(|text| text.ends_with('\n')));
    screen.wait_for("asks you");
    assert_eq!(std::fs::read_to_string(&called).unwrap(), "[to me]\n[shop: asks you]\n");
    assert_eq!(screen.end(), 0);
}

/// The line of the pages that sends a call to a web address.
#[test]
fn the_documented_line_posts_a_call_to_an_address() {
    let world = World::new();
    let window = Window::start(&world);
    let called = world.path("called");
    let script =
        world.write("bin/curl", &format!("#!/bin/sh\nprintf '[%s]\\n' \"$@\" >> {}\n", called.display()));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pane.md")).unwrap();
    let line = page.lines().find(|line| line.starts_with("notify_command = [\"curl\"")).unwrap();
    let line = line.replace("\"curl\"", &format!("{:?}", script.to_str().unwrap()));
    let mut screen = open(&world, &window, &format!("{line}\nnotify_from = \"wait\"\n"));
    window.registers(&json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    screen.wait_until("a call", |_| {
        std::fs::read_to_string(&called).is_ok_and(|text| text.ends_with("[shop: asks you]\n"))
    });
    let expected = "[-sS]\n[https://ntfy.sh/mine]\n[-d]\n[shop: asks you]\n";
    assert_eq!(std::fs::read_to_string(&called).unwrap(), expected);
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_command_that_fails_is_said_and_none_runs_in_quiet_hours() {
    let world = World::new();
    let window = Window::start(&world);
    let command = "notify_command = [\"/nowhere/at/all\"]\n";
    let mut screen = open(&world, &window, command);
    window.registers(&json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    screen.wait_for("notify_command: /nowhere/at/all");
    assert_eq!(screen.end(), 0);
    // The program has no zone here, so its clock is UTC.
    let near = |hours| {
        (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours)).strftime("%H:%M").to_string()
    };
    let quiet = format!("notify_quiet = \"{}-{}\"\n", near(-1), near(1));
    let mut screen = open(&world, &window, &format!("{command}{quiet}"));
    window.registers(&json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    screen.wait_for("asks you");
    // Long enough for a command that cannot start to be said.
    std::thread::sleep(Duration::from_millis(500));
    assert!(!screen.shows("notify_command"), "{}", screen.picture());
    assert_eq!(screen.end(), 0);
}
