//! Time namespaces (time_namespaces(7)): the kernel tells the start of one and the same process by
//! different numbers inside and outside.

use crate::stage::{World, check, is_allowed, verdict};

/// Namespaces whose machine booted an hour earlier, and later.
const SHIFTED: [[&str; 8]; 2] = [shifted("3600"), shifted("-3600")];

/// A mount namespace as well, so that `tests/alone` can give claimtop its name there.
const fn shifted(by: &str) -> [&str; 8] {
    ["unshare", "--user", "--map-root-user", "--mount", "--time", "--boottime", by, "--fork"]
}

#[test]
fn a_holder_outside_is_not_dead_from_inside() {
    for within in SHIFTED {
        if !is_allowed("a holder outside of a time namespace", &within) {
            return;
        }
        let world = World::new();
        let mut agent = world.agent(&[]);
        world.register(&agent);
        world.write_pid_only(agent.inner);
        let report = world.look(&within);
        check(&report, "claude-code", ("unknown", "other-namespace"));
        assert_ne!(verdict(&report, "maia").0, "dead");
        agent.end();
        assert_eq!(verdict(&world.look(&within), "claude-code").0, "dead");
    }
}

#[test]
fn a_holder_inside_is_not_dead_from_outside() {
    for within in SHIFTED {
        if !is_allowed("a holder inside of a time namespace", &within) {
            return;
        }
        let world = World::new();
        let mut agent = world.agent(&within);
        world.register(&agent);
        world.write_pid_only(agent.inner);
        let report = world.look(&[]);
        for format in ["claude-code", "maia"] {
            assert_ne!(verdict(&report, format).0, "dead", "{format}");
        }
        agent.end();
        assert_ne!(verdict(&world.look(&[]), "claude-code").0, "alive");
    }
}
