//! What takes longer than a second shows it on a terminal, and Ctrl-C stops it without harm.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::pty::Screen;
use crate::terminal::world::World;

/// What there is while a command is under way.
const UNDER_WAY: &str = "s, Ctrl-C stops it";

/// Returns every file below a folder with its content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() {
            all.extend(files(&path));
        } else if meta.len() < 1 << 20 {
            all.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    all
}

/// Runs a command until it shows that it is under way, and stops it.
#[track_caller]
fn stopped(world: &World, arguments: &[&str], within: Option<&Path>) {
    let before = files(&world.path("home"));
    let path = std::env::var("PATH").unwrap();
    let mut command = world.command(arguments, &[("PATH", &path)]);
    within.iter().for_each(|folder| command.cwd(folder));
    let mut screen = Screen::start(command, 100, 30);
    screen.wait_for(UNDER_WAY);
    screen.press("\u{3}");
    assert_ne!(screen.wait_for_exit(), 0, "{arguments:?}:\n{}", screen.picture());
    assert_eq!(files(&world.path("home")), before, "{arguments:?}");
}

/// Each of these waits for a machine that starts and says nothing.
#[test]
fn a_look_that_takes_long_says_so_and_is_stopped() {
    let world = World::new();
    let config = world.path("config.toml");
    world.write(
        "config.toml",
        "[[machine]]\nname = \"slow\"\ncommand = [\"/bin/sh\", \"-c\", \"exec sleep 600\"]\n",
    );
    for command in [&["leftovers", "--sizes"][..], &["leftovers", "--trees"], &["report"]] {
        let shared = ["--config", config.to_str().unwrap()];
        stopped(&world, &[command, &shared].concat(), None);
    }
}

/// Hundreds of transcripts, each with more than is read of one.
#[test]
fn a_rescue_from_huge_transcripts_says_so_and_is_stopped() {
    let world = World::new();
    world.write("home/shop/.git/HEAD", "ref: refs/heads/main\n");
    ["objects", "refs"].iter().for_each(|name| {
        std::fs::create_dir_all(world.path("home/shop/.git").join(name)).unwrap();
    });
    let tree = world.path("home/shop");
    let line = format!(
        "{{\"type\":\"user\",\"cwd\":{:?},\"timestamp\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n",
        tree.to_str().unwrap(),
        jiff::Timestamp::now()
    );
    for number in 100..400 {
        let name = format!("home/.claude/projects/p/2e4d1b63-7a1f-4c8f-8b64-1a3e9b7d2{number}.jsonl");
        world.write(&name, &line);
        File::options().write(true).open(world.path(&name)).unwrap().set_len(1 << 30).unwrap();
    }
    stopped(&world, &["rescue"], Some(&tree));
}
