//! If the system watches no more files for claimtop, the screen says so and looks now and then.

use crate::apart::is_apart;
use crate::pty::Screen;
use crate::terminal::world::World;

/// A user namespace with limits of its own (`/proc/sys/user`, user_namespaces(7)).
const OWN: [&str; 2] = ["--user", "--map-root-user"];

/// Opens the screen under a limit: it must show why it misses changes, and show the changes all the same.
#[track_caller]
fn check(name: &str, most: u32, why: &str) {
    std::fs::write(format!("/proc/sys/user/{name}"), most.to_string()).unwrap();
    let world = World::new();
    let mut screen: Screen = world.open(200, 60);
    screen.wait_for("[polling every 2 s]");
    world.write("home/.maia/sessions/swarm_session_late.json", r#"{"current_agent":"late_agent"}"#);
    screen.wait_for("late_agent");
    screen.press("D");
    screen.wait_for("change events are incomplete; polling every 2 s");
    screen.wait_for(why);
    screen.close("change events are incomplete");
    assert_eq!(screen.end(), 0);
}

#[test]
fn without_watchers_it_looks_now_and_then() {
    if is_apart("terminal::limits::without_watchers_it_looks_now_and_then", &OWN) {
        check("max_inotify_instances", 0, "fs.inotify.max_user_instances");
    }
}

#[test]
fn without_enough_watches_it_looks_now_and_then() {
    if is_apart("terminal::limits::without_enough_watches_it_looks_now_and_then", &OWN) {
        check("max_inotify_watches", 1, "fs.inotify.max_user_watches");
    }
}

/// The other side of the two above.
#[test]
fn where_all_is_watched_it_waits_to_be_told() {
    let world = World::new();
    let mut screen = world.open(200, 60);
    screen.press("D");
    screen.wait_for("reported at once");
    assert!(!screen.shows("polling every 2 s"), "{}", screen.picture());
    screen.close("reported at once");
    assert_eq!(screen.end(), 0);
}
