//! Notifications for a person who is looking elsewhere.

use crate::pty::Screen;
use crate::terminal::world::World;

/// A record of a dead process of this boot, which is new trouble.
fn dead_record(world: &World) {
    let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    world.write("home/.claude/sessions/4194304.json", text);
}

fn written(screen: &Screen) -> String {
    String::from_utf8_lossy(&screen.written).into_owned()
}

#[test]
fn new_trouble_is_in_the_title_rings_once_and_is_marked_until_a_key_is_pressed() {
    let world = World::new();
    world.write("home/.config/claimtop/config.toml", "bell = true\nnotify = 'osc9'\n");
    let mut screen = world.open(100, 30);
    screen
        .wait_until("a title that tells how it is", |screen| written(screen).contains("\u{1b}]2;claimtop: "));
    let before = written(&screen);
    assert!(!before.contains("\u{1b}]9;"), "what was there at the start calls nobody");
    dead_record(&world);
    screen.wait_until("a title with the dead claim", |screen| written(screen).contains("1 dead claim\u{7}"));
    screen.wait_until("a notification", |screen| written(screen).contains("\u{1b}]9;claimtop: "));
    screen.wait_for("•");
    screen.press("j");
    screen.wait_until("no mark any more", |screen| !screen.shows("•"));
    assert_eq!(screen.end(), 0);
}

#[test]
fn the_title_is_put_back() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    screen.press("q");
    assert_eq!(screen.wait_for_exit(), 0);
    let written = written(&screen);
    let (saved, back) = (written.find("\u{1b}[22;2t"), written.rfind("\u{1b}[23;2t"));
    assert!(saved.is_some() && saved < back, "{saved:?} {back:?}");
}

#[test]
fn what_is_off_is_not_sent() {
    let world = World::new();
    world.write("home/.config/claimtop/config.toml", "title = false\n");
    let mut screen = world.open(100, 30);
    dead_record(&world);
    screen.wait_for("4194304");
    let written = written(&screen);
    assert!(!written.contains("\u{1b}]2;") && !written.contains("\u{1b}[22;2t"));
    assert!(!written.contains("\u{1b}]9;") && !written.contains("\u{1b}]777;"));
    assert_eq!(screen.end(), 0);
}
