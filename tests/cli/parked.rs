//! Parked files: whatever others do to one, it comes back or stays, and no other file is mistaken for it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::act::dead_window;
use crate::other_home::{home_of_another, run_as_its_user};
use crate::world::{Answer, World};

/// Where the state folder parks files.
const PARKED: &str = "home/.local/state/claimtop/parked";

/// Returns the only parked file.
fn only_parked(world: &World) -> PathBuf {
    let mut all = std::fs::read_dir(world.path(PARKED)).unwrap();
    let only = all.next().unwrap().unwrap().path();
    assert!(all.next().is_none());
    only
}

/// Releases a record; returns its place and where it is parked.
fn released(world: &World) -> (String, PathBuf) {
    let path = dead_window(world);
    let done = world.settled(&["release", &path, "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    (path, only_parked(world))
}

/// Returns the undo column of `journal` for the newest entry.
fn undo_column(world: &World) -> String {
    let journal = world.run(&["journal"]).out;
    let (heads, row) = (journal.lines().next().unwrap(), journal.lines().nth(1).unwrap());
    let at = heads.find("UNDO").unwrap();
    row.get(at..).unwrap().split("  ").next().unwrap().to_owned()
}

#[test]
fn what_has_grown_too_large_to_be_read_comes_back() {
    let world = World::new();
    let (path, parked) = released(&world);
    let mut late = File::options().append(true).open(&parked).unwrap();
    late.write_all(&vec![b'x'; 2 << 20]).unwrap();
    let size = late.metadata().unwrap().len();
    assert_eq!(undo_column(&world), "yes");
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(undone.out.contains("it is restored without being read"), "{undone:?}");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), size);
    assert!(!parked.exists());
}

#[test]
fn what_has_a_second_name_comes_back_under_its_own() {
    let world = World::new();
    let (path, parked) = released(&world);
    let text = std::fs::read(&parked).unwrap();
    std::fs::hard_link(&parked, world.path("second")).unwrap();
    assert_eq!(undo_column(&world), "yes");
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(std::fs::read(&path).unwrap(), text);
    let inode = |path: &Path| std::fs::metadata(path).unwrap().ino();
    assert_eq!(inode(Path::new(&path)), inode(&world.path("second")));
}

/// Expects an undo to be refused, with the way by hand, and to change nothing.
fn refused(world: &World, path: &str, why: &str) -> Answer {
    assert!(!undo_column(world).starts_with("yes"), "{}", undo_column(world));
    let refused = world.run(&["undo", "--yes"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.out.contains(why) && refused.out.contains("by hand: mv -n "), "{refused:?}");
    assert!(!std::fs::exists(path).unwrap());
    refused
}

#[test]
fn another_file_under_a_parked_name_is_not_taken_for_it() {
    let world = World::new();
    let (path, parked) = released(&world);
    let kept = std::fs::read(&parked).unwrap();
    std::fs::rename(&parked, world.path("kept")).unwrap();
    std::fs::write(world.path("other"), "of somebody else").unwrap();
    std::fs::rename(world.path("other"), &parked).unwrap();
    refused(&world, &path, " is another file, not the one that was parked");
    assert_eq!(std::fs::read(&parked).unwrap(), b"of somebody else");
    // A copy that keeps the times is as good, as of a backup.
    let copied = std::process::Command::new("cp").arg("-p").args([world.path("kept"), parked]).status();
    assert!(copied.unwrap().success());
    assert_eq!(undo_column(&world), "yes");
    assert_eq!(world.run(&["undo", "--yes"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), kept);
}

#[test]
fn a_link_under_a_parked_name_is_left_alone() {
    let world = World::new();
    let (path, parked) = released(&world);
    std::fs::rename(&parked, world.path("kept")).unwrap();
    std::os::unix::fs::symlink(world.path("kept"), &parked).unwrap();
    refused(&world, &path, "is no longer a plain file");
}

#[test]
fn what_another_user_may_have_open_is_not_removed() {
    let Some((world, path)) = home_of_another() else { return };
    let (code, out) = run_as_its_user(&world, &["release", &path, "--yes"]);
    assert_eq!(code, Some(0), "{out}");
    let parked = only_parked(&world);
    let held = File::open(&parked).unwrap();
    let config = world.write("kept.toml", "keep_parked_days = 0\n");
    std::fs::set_permissions(&config, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let prune = ["journal", "--prune", "--yes", "--config", config.to_str().unwrap()];
    let (code, out) = run_as_its_user(&world, &prune);
    assert_eq!(code, Some(0), "{out}");
    assert!(
        out.contains("may have it open, which cannot be seen from here; after a reboot no process will"),
        "{out}"
    );
    assert!(parked.exists());
    drop(held);
    // A file parked before the boot cannot be open any more.
    let journal = world.path("home/.local/state/claimtop/journal.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    let mut earlier: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut earlier {
        line["at"] = "2023-11-20T20:00:00Z".into();
        if let Some(intent) = line.get_mut("intent").and_then(serde_json::Value::as_object_mut) {
            assert!(intent.remove("boot_id").is_some());
        }
    }
    let earlier: String = earlier.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&journal, earlier).unwrap();
    let (code, out) = run_as_its_user(&world, &prune);
    assert_eq!(code, Some(0), "{out}");
    assert!(!parked.exists(), "{out}");
}

/// Parks a file that is not a record, by its name, with the code that its plan shows; returns the plan.
fn park(world: &World, named: &str) -> serde_json::Value {
    let shown = world.settled(&["park", named, "--dry-run", "--json"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let plan: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    let done = world.run(&["park", named, "--confirm", plan["plans"][0]["code"].as_str().unwrap()]);
    assert_eq!(done.code, 0, "{done:?}");
    plan["plans"][0].clone()
}

#[test]
fn a_name_that_leaves_no_room_for_more_is_parked_under_its_beginning_and_the_plan_says_so() {
    let world = World::new();
    for (bytes, is_cut) in [(251, false), (252, true), (255, true)] {
        let name = format!("swarm_session_{}.json", "ä".repeat(200).get(..(bytes - 19) / 2 * 2).unwrap());
        let name = name + &"_".repeat(bytes);
        let name = format!("{}.json", name.get(..bytes - 5).unwrap());
        let path = world.write(&format!("home/.maia/sessions/{name}"), "{").canonicalize().unwrap();
        let path = path.to_str().unwrap();
        let plan = park(&world, path);
        let undone = plan["inverse"].as_str().unwrap();
        assert_eq!(undone.contains(&format!("(the full one has {bytes} bytes)")), is_cut, "{undone}");
        assert!(!std::fs::exists(path).unwrap());
        // A file restored beside another one needs a shorter name as well.
        std::fs::write(path, "in the way").unwrap();
        assert_eq!(undo_column(&world), "--beside");
        let undone = world.run(&["undo", "--beside", "--yes"]);
        assert_eq!(undone.code, 0, "{undone:?}");
        assert_eq!(std::fs::read(path).unwrap(), b"in the way");
        let restored = std::fs::read_dir(world.path("home/.maia/sessions")).unwrap();
        let restored: Vec<_> = restored.map(|entry| entry.unwrap().path()).collect();
        let is_restored = |path: &&PathBuf| path.to_str().unwrap().ends_with(".restored");
        let restored = restored.iter().find(is_restored).unwrap();
        assert_eq!(std::fs::read(restored).unwrap(), b"{");
        std::fs::remove_file(restored).unwrap();
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn bytes_that_are_no_text_and_the_text_that_shows_them_are_two_things() {
    let world = World::new();
    let shown = world.write("home/.maia/sessions/swarm_session_\\xFE.json", "{");
    let raw = OsStr::from_bytes(b"swarm_session_\xFE.json");
    let raw = shown.with_file_name(raw);
    std::fs::write(&raw, "{").unwrap();
    // A file counts as being written until it has been unchanged for a second.
    let corrupt = || -> Vec<String> {
        let report: serde_json::Value = serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let corrupt = findings.filter(|one| one["code"] == "corrupt-record");
        corrupt.map(|one| one["subjects"][0].as_str().unwrap().to_owned()).collect()
    };
    let keys = std::iter::repeat_with(corrupt).find(|keys| keys.len() == 2).unwrap();
    assert_ne!(keys[0], keys[1]);
    let named = world.run(&["park", shown.canonicalize().unwrap().to_str().unwrap(), "--dry-run"]);
    assert!(named.code == 2 && keys.iter().all(|key| named.err.contains(key)), "{named:?}");
    park(&world, &keys[0]);
    assert_eq!([&shown, &raw].iter().filter(|path| path.exists()).count(), 1);
    park(&world, &keys[1]);
    assert!(!shown.exists() && !raw.exists());
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!([&shown, &raw].iter().filter(|path| path.exists()).count(), 1);
}

#[test]
fn the_journal_says_that_an_undo_works_only_where_it_would() {
    let world = World::new();
    let (path, parked) = released(&world);
    let said = |world: &World| -> serde_json::Value {
        let journal: serde_json::Value =
            serde_json::from_str(&world.run(&["journal", "--json"]).out).unwrap();
        let entry = &journal["entries"][0];
        serde_json::json!([entry["can_be_undone"], entry["cannot_be_undone"]])
    };
    assert_eq!(said(&world), serde_json::json!([true, null]));
    std::fs::write(&path, "{}").unwrap();
    assert_eq!(undo_column(&world), "--beside");
    assert!(said(&world)[1].as_str().unwrap().starts_with("the place is taken"), "{}", said(&world));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(undo_column(&world), "yes");
    std::fs::rename(&parked, world.path("kept")).unwrap();
    assert_eq!(undo_column(&world), "not now");
    assert_eq!(said(&world)[0], false);
}
