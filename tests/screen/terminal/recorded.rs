//! The key that records, and the keys that navigate a recording.

use std::path::PathBuf;

use crate::pty::Screen;
use crate::terminal::world::World;

fn agent(world: &World, name: &str) {
    let text = format!(r#"{{"current_agent":"{name}"}}"#);
    world.write(&format!("home/.maia/sessions/swarm_session_{name}.json"), &text);
}

/// Records with the key while two agents come, one after the other; returns the path.
fn record(world: &World) -> PathBuf {
    let mut screen = world.open(160, 40);
    assert!(!screen.shows("[rec]"));
    screen.press("w");
    screen.wait_for("Recording to");
    screen.wait_for("[rec]");
    // The state at the beginning is kept, though nothing happens.
    screen.wait_until("a look that is kept", |_| {
        let text = only_file(world).and_then(|file| std::fs::read_to_string(file).ok());
        text.is_some_and(|text| text.lines().count() > 1)
    });
    for name in ["first_late", "second_late"] {
        agent(world, name);
        screen.wait_for(name);
    }
    screen.press("w");
    screen.wait_for("Recorded to");
    screen.wait_until("an end of the mark", |screen| !screen.shows("[rec]"));
    agent(world, "third_late");
    screen.wait_for("third_late");
    assert_eq!(screen.end(), 0);
    only_file(world).unwrap()
}

fn only_file(world: &World) -> Option<PathBuf> {
    let folder = world.path("home/.local/state/claimtop/recordings");
    let mut files = std::fs::read_dir(folder).ok()?.map(|entry| entry.unwrap().path());
    let (file, more) = (files.next()?, files.next());
    assert_eq!(more, None);
    Some(file)
}

fn replay(world: &World, file: &str, more: &[&str]) -> Screen {
    let arguments = [&["replay", file][..], more].concat();
    let mut screen = Screen::start(world.command(&arguments, &[]), 160, 40);
    screen.wait_for("[replay ");
    screen.press("3");
    screen.wait_for("alpha_agent");
    screen
}

/// Returns the position of the replay, and the number of looks.
fn position(screen: &Screen) -> (usize, usize) {
    let picture = screen.picture();
    let (_, rest) = picture.split_once("[replay ").unwrap();
    let (look, of) = rest.split_once(' ').unwrap().0.split_once('/').unwrap();
    (look.parse().unwrap(), of.parse().unwrap())
}

/// Presses a key until the look to which it leads is as wanted; a write may be more than one look.
#[track_caller]
fn step_until(screen: &mut Screen, key: &str, is_there: impl Fn(&Screen) -> bool) {
    while !is_there(screen) {
        let (look, of) = position(screen);
        assert!(look > 1 && key == "," || look < of && key == ".", "{}", screen.picture());
        screen.press(key);
        screen.wait_until("another look", |screen| position(screen).0 != look);
        // The position is there at once, the look a moment later.
        for _ in 0..20 {
            if is_there(screen) {
                break;
            }
            screen.take_output();
        }
    }
}

#[test]
fn what_the_key_records_is_gone_through_with_keys_and_nothing_can_be_done_in_it() {
    let world = World::new();
    let file = record(&world);
    // The current state of the machine does not matter in a replay.
    std::fs::remove_dir_all(world.path("home/.maia")).unwrap();
    let mut screen = replay(&world, file.to_str().unwrap(), &[]);
    let (first, last) = position(&screen);
    assert!(first == 1 && last >= 3, "{first}/{last}");
    assert!(!screen.shows("first_late"), "{}", screen.picture());
    for name in ["first_late", "second_late"] {
        step_until(&mut screen, ".", |screen| screen.shows(name));
    }
    assert!(!screen.shows("third_late"), "it came when nothing was recorded");
    step_until(&mut screen, ",", |screen| !screen.shows("second_late"));
    assert!(screen.shows("first_late"), "{}", screen.picture());
    screen.press("]");
    screen.wait_for("second_late");
    screen.press("[");
    let is_first = |screen: &Screen| position(screen).0 == 1 && !screen.shows("first_late");
    screen.wait_until("the beginning", is_first);
    screen.press(",[");
    screen.press("]]].");
    screen.wait_until("the end", |screen| position(screen) == (last, last));
    screen.press("r");
    screen.wait_for("Plan: release");
    screen.wait_for("claimtop is read-only: this is only shown");
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_replay_begins_at_a_moment() {
    let world = World::new();
    let file = record(&world);
    let mut screen = replay(&world, file.to_str().unwrap(), &["--at", "2100-01-01T00:00:00Z"]);
    screen.wait_for("second_late");
    let (look, of) = position(&screen);
    assert_eq!(look, of);
    assert_eq!(screen.end(), 0);
}

/// Records redacted, answers the questions, and returns the exit code and the output.
#[track_caller]
fn redacted(answer: &str) -> (u32, Option<String>) {
    let world = World::new();
    let file = world.path("sent.jsonl");
    let arguments = ["record", file.to_str().unwrap(), "--once", "--redact"];
    let mut screen = Screen::start(world.command(&arguments, &[]), 200, 60);
    screen.wait_for("[y/N]");
    // Other processes of this machine may have scrolled it away.
    let said = String::from_utf8_lossy(&screen.written);
    assert!(said.contains("alpha becomes "), "{said}");
    assert!(!file.exists(), "it is written before anybody said yes");
    screen.press(answer);
    let code = screen.wait_for_exit();
    (code, std::fs::read_to_string(file).ok())
}

#[test]
fn redaction_asks_before_it_writes() {
    for answer in ["n\r", "\r", "maybe\r", "\u{4}"] {
        assert_eq!(redacted(answer), (3, None), "{answer:?}");
    }
    let (code, written) = redacted("y\r");
    let written = written.unwrap();
    assert_eq!(code, 0);
    assert!(written.contains("\"redacted\":true") && !written.contains("alpha_agent"), "{written}");
}
