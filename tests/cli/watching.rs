//! The watch status in `config`: a fall-back to polling is visible before a screen is opened.

use std::fs;

use crate::apart::is_apart;
use crate::world::World;

/// Returns the value of a line about this.
#[track_caller]
fn said<'a>(out: &'a str, name: &str) -> &'a str {
    let of = |line: &'a str| line.strip_prefix(name)?.strip_prefix("  ");
    out.lines().find_map(of).unwrap_or_else(|| panic!("no {name}: {out}")).trim()
}

/// Checks the report on folders under a limit of inotify(7) as low as this, in a user namespace of the test's own
/// (`/proc/sys/user`, user_namespaces(7)).
#[track_caller]
fn check(test: &str, limit: Option<(&str, usize, u32)>, refused: &str, changes: &str) {
    if !is_apart(test, &["--user", "--map-root-user"]) {
        return;
    }
    let world = World::new();
    world.write("home/.claude/sessions/note", "");
    if let Some((name, _, most)) = limit {
        fs::write(format!("/proc/sys/user/{name}"), most.to_string()).unwrap();
    }
    let answer = world.run(&["config"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    // Their number above the world depends on the machine.
    assert_eq!(said(&answer.out, "folders").trim_start_matches(char::is_numeric), refused, "{}", answer.out);
    assert_eq!(said(&answer.out, "changes"), changes);
    let told = answer.out.matches("limit of watche").count();
    assert_eq!(told, limit.map_or(0, |(_, reasons, _)| reasons), "{}", answer.out);
    let own = fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").unwrap();
    let limit = said(&answer.out, "fs.inotify.max_user_watches");
    assert_eq!(limit, format!("{} for all programs of a user", own.trim()));
}

#[test]
fn where_all_is_watched_changes_are_told_at_once() {
    let test = "watching::where_all_is_watched_changes_are_told_at_once";
    check(test, None, "", "reported at once");
}

#[test]
fn without_a_watcher_every_folder_is_refused() {
    let test = "watching::without_a_watcher_every_folder_is_refused";
    let changes = "change events are incomplete; polling every 2 s";
    check(test, Some(("max_inotify_instances", 1, 0)), ", and 4 refused", changes);
}

#[test]
fn the_folders_that_found_no_room_are_counted() {
    let test = "watching::the_folders_that_found_no_room_are_counted";
    let changes = "change events are incomplete; polling every 2 s";
    check(test, Some(("max_inotify_watches", 3, 1)), ", and 3 refused", changes);
}
