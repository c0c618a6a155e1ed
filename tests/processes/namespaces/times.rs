//! Time namespaces (time_namespaces(7)): the kernel shows different numbers for the start of the same process inside
//! and outside.

use crate::namespaces::stage::{World, check, is_allowed, verdict};

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

#[test]
fn a_holder_from_before_the_zero_of_a_namespace_is_not_born_later() {
    let up = || -> f64 {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    };
    if !is_allowed("a time namespace", &shifted("-1")) {
        return;
    }
    let world = World::new();
    let mut agent = world.agent(&[]);
    world.write_pid_only(agent.inner);
    let began = up();
    while up() < began + 2.0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // Inside the machine has been up for less than a second, so the agent's start is below zero there.
    let whole = up().floor();
    let report = world.look(&shifted(&format!("-{whole}")));
    check(&report, "maia", ("unknown", "other-clock"));
    agent.end();
}
