//! What an open screen foresees of two windows, each in a working tree of its own.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::guard::{Window, git, repository_at};
use crate::pty::{Screen, claimtop};
use crate::world::World;

/// Makes a repository with two working trees, `first` and `second`, in which the same line is edited.
fn trees(world: &World) -> [PathBuf; 2] {
    let shop = repository_at(&world.path("home/shop"));
    ["first", "second"].map(|name| {
        let tree = world.path(&format!("home/{name}"));
        git(&shop, &["worktree", "add", "-q", "-b", name, tree.to_str().unwrap()]);
        std::fs::write(tree.join("src/pay.rs"), format!("{name}\n")).unwrap();
        tree
    })
}

fn open(world: &World, configuration: &str) -> Screen {
    let file = world.write("config.toml", configuration);
    let [home, tmp] = ["home", "tmp"].map(|name| world.path(name).to_str().unwrap().to_owned());
    let arguments = ["--home", &home, "--tmp", &tmp, "--config", file.to_str().unwrap()].map(str::to_owned);
    let mut command = claimtop(&arguments);
    command.env("PATH", "/usr/bin:/bin");
    Screen::start(command, 160, 40)
}

/// Returns what `now` prints beside the screen.
fn now(world: &World) -> String {
    world.run(&["now"]).out
}

fn stats(world: &World) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    command.env_clear().env("HOME", world.path("home")).args(["stats", "--json"]);
    let stats: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    stats["foresight"].clone()
}

#[test]
fn a_conflict_is_shown_while_a_screen_is_open_and_the_later_window_hears_of_it_once() {
    let world = World::new();
    let [first, second] = trees(&world);
    git(&first, &["commit", "-qam", "pay"]);
    let mut one = Window::open(&world, "foreseen-first", &first);
    let mut other = Window::open(&world, "foreseen-second", &second);
    assert_eq!(other.prompt(&world), None, "no screen compares the trees yet");
    let mut screen = open(&world, "");
    screen.wait_for("will conflict in src/pay.rs");
    screen.wait_for("rebase second onto first");
    let shown = now(&world);
    assert!(shown.contains("will conflict in src/pay.rs"), "others read what the screen keeps: {shown}");
    let brief = other.prompt(&world).expect("a brief");
    assert!(brief.contains("edits the same lines of `src/pay.rs`"), "{brief}");
    assert!(brief.contains("rebase onto `first`"), "{brief}");
    assert_eq!(other.prompt(&world), None, "once");
    assert_eq!(one.prompt(&world), None, "the one that is further need not make way");
    let foresight = stats(&world);
    assert_eq!(foresight["conflicts"].as_u64(), Some(1), "{foresight}");
    assert!(foresight["pairs"].as_u64() >= Some(1), "{foresight}");
    assert_eq!(screen.end(), 0);
    let shown = now(&world);
    assert!(!shown.contains("will conflict"), "what no one keeps up to date is not known: {shown}");
    let left = std::fs::read_dir(world.path("home/.local/state/claimtop/copies")).unwrap().count();
    assert_eq!(left, 0, "nothing that was thrown away stays");
}

#[test]
fn a_person_can_leave_it_to_the_command() {
    let world = World::new();
    let [first, second] = trees(&world);
    let [_one, _other] = [("alone-first", &first), ("alone-second", &second)]
        .map(|(session, tree)| Window::open(&world, session, tree));
    let mut screen = open(&world, "foresee = false\n");
    screen.wait_for("first");
    screen.wait_for("second");
    // Longer than the first check waits.
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert!(!screen.shows("will conflict"), "{}", screen.picture());
    assert_eq!(screen.end(), 0);
    let mut foresee = world.command(&["foresee"]);
    let output = foresee.env("PATH", "/usr/bin:/bin").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("will conflict in src/pay.rs"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}
