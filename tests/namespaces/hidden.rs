//! A `/proc` that hides others' processes (`hidepid`, proc(5)).

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{Gid, Uid, chown};
use walk::everything;

use crate::stage::{World, check, is_allowed, verdict};

/// A user who is not the agent's.
const NOBODY: u32 = 65_534;

/// Mounts a `/proc` that hides, and goes on as nobody.
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
        // The home is that of the one who looks.
        for path in everything(&world.path("home")) {
            let mode = if path.is_dir() { 0o755 } else { 0o644 };
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            chown(&path, Some(Uid::from_raw(NOBODY)), Some(Gid::from_raw(NOBODY))).unwrap();
        }
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

mod walk {
    use std::path::{Path, PathBuf};

    /// Returns a folder and all that is below it.
    pub(super) fn everything(folder: &Path) -> Vec<PathBuf> {
        let below = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let below = below.flat_map(|path| if path.is_dir() { everything(&path) } else { vec![path] });
        std::iter::once(folder.to_owned()).chain(below).collect()
    }
}
