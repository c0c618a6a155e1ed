//! A disk that is really full: an action reported as not done is not done.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::apart::is_apart;
use crate::ended::{SESSION, ended_window};
use crate::world::World;

/// The unit in which the kernel allocates files of a tmpfs (tmpfs(5)).
const PAGE: usize = 4_096;

/// Fills a disk except for this many pages, and returns the file that fills it.
fn fill(disk: &Path, pages: usize) -> PathBuf {
    let path = disk.join("full");
    let mut file = File::create(&path).unwrap();
    while file.write_all(&[b'x'; PAGE]).is_ok() {}
    let left = u64::try_from(pages * PAGE).unwrap();
    file.set_len(file.metadata().unwrap().len().checked_sub(left).unwrap()).unwrap();
    path
}

/// Some amount of room is enough for the intent, but not for its outcome, unless the intent has reserved room for the
/// outcome.
#[test]
fn what_is_refused_for_want_of_room_is_as_it_was() {
    let name = "full::what_is_refused_for_want_of_room_is_as_it_was";
    if !is_apart(name, &["--user", "--map-root-user", "--mount"]) {
        return;
    }
    let world = World::new();
    let home = world.path("home");
    let mount = ["-t", "tmpfs", "-o", "size=2m,mode=700", "none"];
    assert!(Command::new("mount").args(mount).arg(&home).status().unwrap().success());
    let mut codes = Vec::new();
    let windows: Vec<_> = (0..24).map(|pages| (pages, ended_window(&world, "alpha", SESSION).1)).collect();
    for (pages, file) in windows {
        let file = file.canonicalize().unwrap();
        let path = file.to_str().unwrap();
        // Each begins with an empty journal, and after a look that has taught nothing new.
        world.settled(&["release", path, "--dry-run"]);
        let _ = std::fs::remove_file(world.path("home/.local/state/claimtop/journal.jsonl"));
        let full = fill(&home, pages);
        let done = world.run(&["release", path, "--yes"]);
        assert_eq!(std::fs::exists(&file).unwrap(), done.code != 0, "{pages} pages: {done:?}");
        if done.code == 0 {
            let undone = world.run(&["undo", "--yes"]);
            assert_eq!(std::fs::exists(&file).unwrap(), undone.code == 0, "{pages} pages: {undone:?}");
        }
        codes.push(done.code);
        std::fs::remove_file(full).unwrap();
    }
    assert!(codes.contains(&4) && codes.contains(&0), "{codes:?}");
}
