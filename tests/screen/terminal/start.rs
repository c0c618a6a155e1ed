//! A second start shows the state in which the first one ended.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::pty::Screen;
use crate::terminal::world::World;

/// The folder that is given for claimtop's own files.
const STATE: &str = "own";

fn start(world: &World, more: &[&str]) -> Screen {
    let state = world.path(STATE).to_string_lossy().into_owned();
    let arguments: Vec<&str> = ["--state", &state].into_iter().chain(more.iter().copied()).collect();
    let mut screen = Screen::start(world.command(&arguments, &[]), 100, 30);
    screen.wait_for("claimtop");
    screen
}

fn file(world: &World) -> PathBuf {
    world.path(STATE).join("view.json")
}

/// Shows the claims that contain alpha, and ends.
fn end_with_claims(world: &World, more: &[&str]) {
    let mut screen = start(world, more);
    screen.press("4/alpha\r");
    screen.wait_for("1 of 2 rows");
    assert_eq!(screen.end(), 0);
}

#[test]
fn the_view_and_its_filter_are_kept_for_their_owner_alone() {
    let world = World::new();
    end_with_claims(&world, &[]);
    assert_eq!(std::fs::metadata(file(&world)).unwrap().permissions().mode() & 0o777, 0o600);
    let mut screen = start(&world, &[]);
    screen.wait_for("The filter alpha is kept from last time");
    screen.wait_for("1 of 2 rows");
    assert!(screen.shows("Holds"), "{}", screen.picture());
    screen.press("\u{1b}");
    screen.wait_for("omega_agent");
    assert_eq!(screen.end(), 0);
    let mut screen = start(&world, &[]);
    screen.wait_for("omega_agent");
    assert_eq!(screen.end(), 0);
}

#[test]
fn nothing_is_kept_where_nothing_may_be_written_or_no_folder_is_given() {
    let world = World::new();
    end_with_claims(&world, &["--read-only"]);
    assert!(!file(&world).exists());
    let mut screen = world.open(100, 30);
    screen.press("4/alpha\r");
    screen.wait_for("1 of 2 rows");
    assert_eq!(screen.end(), 0);
    assert!(!world.path("home/.local/state/claimtop/view.json").exists());
}

#[test]
fn what_is_no_view_is_ignored_and_told() {
    for (text, why) in [
        ("{\"version\":1,\"view\":\"Cla", "ignored: damaged, or not"),
        ("{\"version\":7}", "it has version 7, not 1"),
    ] {
        let world = World::new();
        world.write("own/view.json", text);
        check_ignored(&world, why);
    }
    let world = World::new();
    world.write("elsewhere.json", "{\"version\":1,\"view\":\"Claims\",\"filter\":\"x\",\"views\":{}}");
    std::fs::create_dir_all(world.path(STATE)).unwrap();
    symlink(world.path("elsewhere.json"), file(&world)).unwrap();
    check_ignored(&world, "is ignored: ");
    let world = World::new();
    world.write("own/view.json", &" ".repeat(1 << 20));
    check_ignored(&world, "is ignored: ");
}

#[track_caller]
fn check_ignored(world: &World, why: &str) {
    let mut screen = start(world, &[]);
    screen.wait_for_sessions();
    screen.press("D");
    screen.wait_for("last view");
    // A long path is broken.
    screen.wait_until(why, |screen| {
        screen.picture().split_whitespace().collect::<String>().contains(&why.replace(' ', ""))
    });
    assert_eq!(screen.end(), 0);
}
