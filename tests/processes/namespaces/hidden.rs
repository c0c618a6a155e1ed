//! A `/proc` that hides others' processes (`hidepid`, proc(5)).

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{Gid, Uid, chown};
use walk::everything;

use crate::namespaces::stage::{World, check, is_allowed, verdict};

/// A user who is not the agent's.
const NOBODY: u32 = 65_534;

/// Mounts a `/proc` that hides, and continues as that user.
fn within(option: &str) -> Vec<String> {
    let script = format!(
        "mount -t proc -o {option} proc /proc && exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups \"$@\""
    );
    ["unshare", "--mount", "/bin/sh", "-c", &script, "sh"].map(str::to_owned).to_vec()
}

#[test]
fn a_hidden_holder_is_unknown_and_so_is_one_that_is_gone() {
    for option in ["hidepid=2", "hidepid=invisible", "hidepid=1", "hidepid=ptraceable"] {
        let within = within(option);
        let within: Vec<&str> = within.iter().map(String::as_str).collect();
        if !is_allowed(option, &within) {
            continue;
        }
        let world = World::new();
        let claimtop = world.copy();
        let mut agent = world.agent(&[]);
        world.register(&agent);
        world.write_pid_only(agent.inner);
        check(&world.look(&[]), "claude-code", ("alive", "same-process"));
        // The home belongs to the user that looks.
        hand_over(&world);
        let report = world.look_with(&claimtop, &within);
        for format in ["claude-code", "maia"] {
            assert_eq!(verdict(&report, format).0, "unknown", "{option}: {format}");
        }
        agent.end();
        assert_eq!(
            verdict(&world.look_with(&claimtop, &within), "claude-code").0,
            "unknown",
            "{option}: absence proves nothing"
        );
    }
}

/// Gives the home to the user that looks.
fn hand_over(world: &World) {
    for path in everything(&world.path("home")) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        chown(&path, Some(Uid::from_raw(NOBODY)), Some(Gid::from_raw(NOBODY))).unwrap();
    }
}

#[test]
fn a_death_that_was_proven_stays_proven_where_not_all_can_be_seen_any_more() {
    // Even root sees only its own processes there, once it has dropped the capability to look into others.
    let script = "mount -t proc -o hidepid=2 proc /proc && exec setpriv --bounding-set=-sys_ptrace \"$@\"";
    let blind = ["unshare", "--mount", "/bin/sh", "-c", script, "sh"];
    if !is_allowed("hidepid=2", &blind) {
        return;
    }
    let world = World::new();
    let mut agent = world.agent(&[]);
    world.register(&agent);
    agent.end();
    let look = |within: &[&str]| verdict(&world.look(within), "claude-code").0;
    assert_eq!(look(&blind), "unknown", "nobody has proven it yet");
    assert_eq!(look(&[]), "dead");
    assert_eq!(look(&blind), "dead");
    world.run(Path::new(env!("CARGO_BIN_EXE_claimtop")), &[], &["doctor", "--self", "--drop-tombstones"]);
    assert_eq!(look(&blind), "unknown", "it is forgotten");
}

mod walk {
    use std::path::{Path, PathBuf};

    /// Returns a folder and all that is below it.
    pub(super) fn everything(folder: &Path) -> Vec<PathBuf> {
        let below = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let below = below.flat_map(|path| if path.is_dir() { everything(&path) } else { vec![path] });
        std::iter::once(folder.to_owned()).chain(below).collect()
    }
}
