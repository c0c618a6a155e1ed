//! Deaths that are remembered from one command to the next.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::namespaces::stage::{World, check, is_allowed, verdict};

/// A PID namespace with a `/proc` of its own.
const INSIDE: [&str; 6] = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];

fn file(world: &World) -> PathBuf {
    world.path("home/.local/state/claimtop/tombstones.jsonl")
}

/// Returns claimtop's remembered tombstones.
fn remembered(world: &World) -> Vec<Value> {
    let claimtop = Path::new(env!("CARGO_BIN_EXE_claimtop"));
    let about: Value =
        serde_json::from_slice(&world.run(claimtop, &[], &["doctor", "--self", "--json"])).unwrap();
    about["tombstones"].as_array().unwrap().clone()
}

#[test]
fn a_death_is_remembered_with_its_session_though_the_entry_is_deleted() {
    let world = World::new();
    let mut agent = world.agent(&[]);
    world.register(&agent);
    check(&world.look(&[]), "claude-code", ("alive", "same-process"));
    assert!(!file(&world).exists(), "who lives needs none");
    agent.end();
    check(&world.look(&[]), "claude-code", ("dead", "no-process"));
    std::fs::remove_file(world.path(&format!("home/.claude/sessions/{}.json", agent.inner))).unwrap();
    let all = remembered(&world);
    let [stone] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(stone["pid"], agent.inner);
    assert_eq!(stone["start_ticks"], agent.start);
    assert_eq!(stone["session_id"], "95fe798d-3725-4649-974a-0dec79220193");
}

#[test]
fn a_process_that_lives_all_the_same_makes_it_unknown_and_the_tombstone_is_dropped() {
    let world = World::new();
    let mut gone = world.agent(&[]);
    world.register(&gone);
    gone.end();
    world.look(&[]);
    std::fs::remove_file(world.path(&format!("home/.claude/sessions/{}.json", gone.inner))).unwrap();
    let lives = world.agent(&[]);
    world.register(&lives);
    let text = std::fs::read_to_string(file(&world)).unwrap();
    let forged = text
        .replace(&format!("\"pid\":{}", gone.inner), &format!("\"pid\":{}", lives.inner))
        .replace(&format!("\"start_ticks\":{}", gone.start), &format!("\"start_ticks\":{}", lives.start));
    std::fs::write(file(&world), forged).unwrap();
    check(&world.look(&[]), "claude-code", ("unknown", "process-present"));
    check(&world.look(&[]), "claude-code", ("alive", "same-process"));
    assert_eq!(remembered(&world), Vec::<Value>::new());
}

/// For a container that shares the home, the PID is another process's, or unused.
#[test]
fn a_death_outside_says_nothing_inside() {
    if !is_allowed("a death outside, remembered inside", &INSIDE) {
        return;
    }
    let world = World::new();
    let mut agent = world.agent(&[]);
    world.register(&agent);
    agent.end();
    check(&world.look(&[]), "claude-code", ("dead", "no-process"));
    assert_eq!(verdict(&world.look(&INSIDE), "claude-code").0, "unknown");
    check(&world.look(&[]), "claude-code", ("dead", "no-process"));
}
