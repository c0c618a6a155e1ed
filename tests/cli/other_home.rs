//! Root in the home of another user: it may look, and does nothing that the other could steer.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::act::dead_window;
use crate::program;
use crate::world::World;

/// The owner of the home.
const OTHER: u32 = 61_234;

/// Returns every name below a folder with its owner and, of files, its content.
fn all(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = std::fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            found.extend(all(&path));
        }
        let text = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        found.insert(path, (meta.uid(), text));
    }
    found
}

fn give_away(folder: &Path) {
    for path in all(folder).into_keys().chain([folder.to_path_buf()]) {
        std::os::unix::fs::lchown(path, Some(OTHER), Some(OTHER)).unwrap();
    }
}

/// A home of another user, whose journal contains an interrupted take from elsewhere.
fn other_home() -> Option<(World, String)> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can give a home to another user");
        return None;
    }
    let world = World::new();
    let path = dead_window(&world);
    let state = "home/.local/state/claimtop";
    world.write(&format!("{state}/parked/1-1-x"), "planted");
    let victim = world.path("victim");
    let print = r#"{"dev":1,"ino":1,"size":7,"mode":384,"modified_at":"2026-11-20T20:00:00Z","sha256":""}"#;
    let take = format!(r#"{{"step":"take","from":"{}","parked":"1-1-x","print":{print}}}"#, victim.display());
    let intent = format!(r#"{{"action":"park","title":"t","why":"w","movements":[{take}]}}"#);
    let intent = format!("{{\"entry\":1,\"at\":\"2026-11-20T20:00:01Z\",\"intent\":{intent}}}\n");
    world.write(&format!("{state}/journal.jsonl"), &intent);
    std::fs::create_dir(world.path("roots")).unwrap();
    symlink(world.path("roots"), world.path(&format!("{state}/log"))).unwrap();
    give_away(&world.path("home"));
    chown(world.path("tmp"), Some(OTHER), Some(OTHER)).unwrap();
    Some((world, path))
}

#[test]
fn root_changes_nothing_in_it_and_follows_no_link_there() {
    let Some((world, path)) = other_home() else { return };
    let before = all(&world.path("home"));
    let own = world.path("own");
    std::fs::create_dir(&own).unwrap();
    let environment = [("XDG_STATE_HOME", own.to_str().unwrap())];
    for command in [
        &["release", &path, "--yes"][..],
        &["park", &path, "--yes"],
        &["undo", "--yes"],
        &["clean", "--yes"],
        &["journal", "--prune", "--yes"],
    ] {
        let answer = world.run_with(command, &environment);
        assert_eq!(answer.code, 3, "{answer:?}");
        let told = format!(
            "claimtop: the home belongs to user {OTHER}, and root does not act on what others control"
        );
        assert_eq!(answer.err.lines().next(), Some(told.as_str()), "{answer:?}");
        assert!(answer.err.contains(&format!("setpriv --reuid {OTHER}")), "{answer:?}");
    }
    let looked = world.run_with(&["ls", "--log-level", "debug"], &environment);
    assert_eq!(looked.code, 0, "{looked:?}");
    assert!(own.join(format!("claimtop/home-of-{OTHER}/log/claimtop.log")).exists());
    assert_eq!(all(&world.path("home")), before);
    assert!(!world.path("victim").exists());
    assert_eq!(std::fs::read_dir(world.path("roots")).unwrap().count(), 0);
}

/// Becomes another user's program. If the tests run in a PID namespace of their own, only root can let it find the
/// name that the test itself finds.
const AS_OTHER: &str = "own=$1 id=$2; shift 2
[ \"$(readlink $own/pid)\" = \"$(readlink /proc/self/ns/pid)\" ] || mount --rbind $own /proc/$$/ns
exec setpriv --reuid $id --regid $id --clear-groups \"$0\" \"$@\"";

/// A home of another user, who can run the program there, with a record of an ended window.
pub(crate) fn home_of_another() -> Option<(World, String)> {
    let (world, path) = other_home()?;
    // A file planted for root would be put right by its own user; here it does not exist.
    std::fs::remove_dir_all(world.path("home/.local")).unwrap();
    for open in [world.path(""), world.path("home")] {
        std::fs::set_permissions(open, PermissionsExt::from_mode(0o755)).unwrap();
    }
    program::copy(env!("CARGO_BIN_EXE_claimtop"), world.path("claimtop"));
    Some((world, path))
}

/// Runs the program as the user of that home, and again while a file is too young; returns its code and output.
pub(crate) fn run_as_its_user(world: &World, arguments: &[&str]) -> (Option<i32>, String) {
    loop {
        let (id, own) = (OTHER.to_string(), format!("/proc/{}/ns", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", AS_OTHER]).arg(world.path("claimtop")).args([&own, &id]).args(arguments);
        command.arg("--home").arg(world.path("home")).arg("--tmp").arg(world.path("tmp"));
        let answer = command.env_clear().env("PATH", "/usr/bin:/bin").output().unwrap();
        eprint!("{}", String::from_utf8_lossy(&answer.stderr));
        let out = String::from_utf8(answer.stdout).unwrap();
        if answer.status.success() || !out.contains("s ago: wait") {
            return (answer.status.code(), out);
        }
    }
}

#[test]
fn its_own_user_acts_in_it() {
    let Some((world, path)) = home_of_another() else { return };
    for arguments in [&["ls"][..], &["release", &path, "--yes"]] {
        let (code, out) = run_as_its_user(&world, arguments);
        assert_eq!(code, Some(0), "{out}");
    }
    assert!(!Path::new(&path).exists());
    assert!(all(&world.path("home")).values().all(|(owner, _)| *owner == OTHER));
}
