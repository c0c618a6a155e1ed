//! The program's own files, while its disk fills or its folder is deleted: it continues, keeps what comes from then on
//! if it can, and reports what it lost.

use std::os::unix::fs::PermissionsExt;

use crate::apart::is_apart;
use crate::pty::Screen;
use crate::terminal::world::World;

const STATE: &str = "home/.local/state/claimtop";

/// Starts the program so that it keeps everything it can.
fn start(world: &World) -> Screen {
    world.write("home/.config/claimtop/config.toml", "keep_history = true\n");
    Screen::start(world.command(&["--log-level", "debug"], &[]), 200, 40)
}

/// Opens the screen and waits for a text.
#[track_caller]
fn open(world: &World) -> Screen {
    let mut screen = start(world);
    screen.wait_for_sessions();
    screen
}

/// Writes a record and waits until the screen shows it.
#[track_caller]
fn comes(world: &World, screen: &mut Screen, name: &str) {
    let text = format!(r#"{{"current_agent":"{name}"}}"#);
    world.write(&format!("home/.maia/sessions/swarm_session_{name}.json"), &text);
    screen.wait_for(name);
}

/// Waits until a file of the state folder holds this text.
#[track_caller]
fn holds(world: &World, screen: &mut Screen, file: &str, text: &str) {
    let path = world.path(STATE).join(file);
    screen.wait_until(&format!("{text:?} in {file}"), |_| {
        std::fs::read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
    });
}

#[test]
fn a_deleted_state_folder_is_made_anew_and_a_recording_in_it_is_called_lost() {
    let world = World::new();
    let mut screen = open(&world);
    screen.press("w");
    screen.wait_for("[rec]");
    comes(&world, &mut screen, "early");
    holds(&world, &mut screen, "history.ring", "early");
    std::fs::remove_dir_all(world.path("home/.local")).unwrap();
    comes(&world, &mut screen, "late");
    screen.wait_for("Recording has stopped: it was deleted");
    screen.wait_until("an end of the mark", |screen| !screen.shows("[rec]"));
    comes(&world, &mut screen, "later");
    holds(&world, &mut screen, "history.ring", "later");
    holds(&world, &mut screen, "log/claimtop.log", "looked");
    screen.press("w");
    screen.wait_for("Recording to");
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_recording_that_the_disk_refuses_is_called_ended() {
    let name = "terminal::kept::a_recording_that_the_disk_refuses_is_called_ended";
    if !is_apart(name, &["--user", "--map-root-user", "--mount"]) {
        return;
    }
    let world = World::new();
    world.small_disk(&format!("{STATE}/recordings"), "24k");
    let mut screen = open(&world);
    screen.press("w");
    screen.wait_for("Recording to");
    for number in 0..30 {
        comes(&world, &mut screen, &format!("late_{number:02}"));
    }
    screen.wait_for("Recording has stopped: ");
    screen.wait_until("an end of the mark", |screen| !screen.shows("[rec]"));
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_history_that_cannot_be_kept_is_told() {
    let world = World::new();
    world.write(&format!("{STATE}/history.ring/in_the_way"), "");
    let mut screen = start(&world);
    screen.wait_for("History is not being saved: ");
    screen.wait_for_sessions();
    comes(&world, &mut screen, "late");
    assert_eq!(screen.end(), 0);
}

/// One process keeps the history for all, so nothing is lost.
#[test]
fn a_history_that_another_keeps_is_no_trouble() {
    let world = World::new();
    let mut first = open(&world);
    comes(&world, &mut first, "early");
    holds(&world, &mut first, "history.ring", "early");
    let mut second = start(&world);
    second.wait_for_sessions();
    comes(&world, &mut second, "late");
    assert!(!String::from_utf8_lossy(&second.written).contains("is not kept"), "{}", second.picture());
    for screen in [first, second] {
        assert_eq!(screen.end(), 0);
    }
}

#[test]
fn the_log_is_its_owners_and_holds_nothing_of_a_session() {
    let world = World::new();
    world.write("home/.maia/sessions/swarm_session_torn.json", r#"{"query":"a secret wish"#);
    let mut screen = Screen::start(world.command(&["--log-level", "debug"], &[]), 200, 40);
    screen.wait_for_sessions();
    screen.press("P");
    screen.wait_for("Plan: park");
    assert_eq!(screen.end(), 0);
    let path = world.path(STATE).join("log/claimtop.log");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let log = std::fs::read_to_string(path).unwrap();
    assert!(log.contains("looked"), "{log}");
    for content in ["alpha_agent", "omega_agent", "secret", "wish"] {
        assert!(!log.contains(content), "{content} in {log}");
    }
}

/// Writes a journal whose one entry was interrupted.
fn cut_off(world: &World) {
    let intent = r#"{"entry":1,"at":"2026-11-20T21:40:00Z","intent":{"action":"release","title":"park the record alpha","why":"its holder is dead","movements":[]}}"#;
    world.write(&format!("{STATE}/journal.jsonl"), &format!("{intent}\n"));
    std::fs::set_permissions(world.path(STATE), std::fs::Permissions::from_mode(0o700)).unwrap();
    let journal = world.path(&format!("{STATE}/journal.jsonl"));
    std::fs::set_permissions(journal, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn what_was_cut_off_stands_in_now_and_is_put_right_from_there() {
    let world = World::new();
    cut_off(&world);
    let mut screen = world.open(200, 30);
    screen.press("1");
    screen.wait_for("entry 1 (park the record alpha) was interrupted: `claimtop undo 1` puts it right");
    screen.press("gz");
    screen.wait_for(
        "Done: put right entry 1, park the record alpha (it was interrupted; everything is where it was)",
    );
    screen.press("\u{1b}");
    screen.wait_until("it is not told any more", |screen| !screen.shows("was interrupted: `claimtop"));
    assert_eq!(screen.end(), 0);
}

#[test]
fn what_was_cut_off_is_put_right_by_the_key_that_is_shown() {
    let world = World::new();
    cut_off(&world);
    let mut screen = world.open(100, 30);
    screen.press("7/alpha\r");
    screen.wait_for("z put right");
    screen.press("z");
    screen.wait_for(
        "Done: put right entry 1, park the record alpha (it was interrupted; everything is where it",
    );
    assert!(!screen.shows("None of this can be done"));
    screen.press("\u{1b}");
    screen.wait_until("it is told as it ended", |screen| {
        screen.shows("failed") && !screen.shows("z put right")
    });
    assert_eq!(screen.end(), 0);
}
