//! Other PID namespaces, as containers have them.

use crate::namespaces::stage::{World, check, is_allowed, verdict};

/// A PID namespace with a `/proc` of its own.
const INSIDE: [&str; 6] = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
/// The same, but the `/proc` of outside.
const BLIND: [&str; 5] = ["unshare", "--user", "--map-root-user", "--pid", "--fork"];

#[test]
fn a_holder_inside_is_found_from_outside_by_its_inner_number_and_start() {
    if !is_allowed("a holder inside, seen from outside", &INSIDE) {
        return;
    }
    let world = World::new();
    let mut agent = world.agent(&INSIDE);
    assert!(agent.inner < 100, "{} is no number of another namespace", agent.inner);
    world.register(&agent);
    world.write_pid_only(agent.inner);
    let report = world.look(&[]);
    check(&report, "claude-code", ("alive", "same-process"));
    assert_ne!(verdict(&report, "maia").0, "dead", "whose number it is cannot be told");
    agent.end();
    assert_ne!(verdict(&world.look(&[]), "claude-code").0, "alive");
}

#[test]
fn a_holder_inside_is_seen_from_inside() {
    if !is_allowed("a holder inside, seen from inside", &INSIDE) {
        return;
    }
    let world = World::new();
    // Both in one namespace: the parent of the agent starts claimtop, too.
    let script = "\"$0\" 3600 & pid=$!; read -r stat < /proc/$pid/stat; set -- \"$@\"; \
                  start=$(echo \"${stat##*)}\" | cut -d' ' -f21); \
                  echo '{\"pid\":'$pid',\"sessionId\":\"95fe798d-3725-4649-974a-0dec79220193\",\"procStart\":\"'$start'\"}' \
                  > \"$1/home/.claude/sessions/$pid.json\"; \
                  \"$2\" --home \"$1/home\" --tmp \"$1/tmp\" ls --json; kill -9 $pid";
    let output = std::process::Command::new(INSIDE[0])
        .args(&INSIDE[1..])
        .args(["/bin/sh", "-c", script])
        .arg(world.path("bin/@anthropic-ai/claude-code/claude"))
        .arg(world.path(""))
        .arg(env!("CARGO_BIN_EXE_claimtop"))
        .output()
        .unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap();
    check(&report, "claude-code", ("alive", "same-process"));
}

/// A container has its own numbers and shares the home: processes outside are not visible there.
#[test]
fn a_holder_outside_is_unknown_from_inside() {
    for within in [&INSIDE[..], &BLIND[..]] {
        if !is_allowed("a holder outside, seen from inside", within) {
            continue;
        }
        let world = World::new();
        let mut agent = world.agent(&[]);
        world.register(&agent);
        world.write_pid_only(agent.inner);
        let report = world.look(within);
        for format in ["claude-code", "maia"] {
            // If the /proc of outside is shown, it can be known to live.
            let expected = if within == BLIND { "alive" } else { "unknown" };
            assert_eq!(verdict(&report, format).0, expected, "{format} {within:?}");
        }
        check(&world.look(&[]), "claude-code", ("alive", "same-process"));
        agent.end();
        assert_eq!(verdict(&world.look(within), "claude-code").0, "unknown", "nobody inside can know");
        check(&world.look(&[]), "claude-code", ("dead", "no-process"));
    }
}

/// A `/proc` of outside is not its own, even if a process happens to have the same number here and there.
#[test]
fn a_number_that_is_the_same_outside_by_chance_makes_no_proc_our_own() {
    if !is_allowed("a number that is the same outside", &BLIND) {
        return;
    }
    // The next number inside is set to the one that the next process will have outside, until they match.
    let script = "for try in $(seq 500); do /bin/sh -c ' \
                  read -r outer rest < /proc/self/stat; echo $outer > \"$0\"; \
                  [ $outer = $$ ] || exit 77; exec \"$@\"' \"$0\" \"$@\"; \
                  code=$?; [ $code = 77 ] || exit $code; \
                  read -r last < \"$0\"; echo $last > /proc/sys/kernel/ns_last_pid || exit 1; done; exit 1";
    let world = World::new();
    let last = world.path("last").into_os_string().into_string().unwrap();
    let same = ["/bin/sh", "-c", script, &last];
    let report = world.look(&[&BLIND[..], &same[..]].concat());
    let sources = report["sources"].as_array().unwrap();
    let processes = sources.iter().find(|source| source["id"] == "processes").unwrap();
    let detail = processes["detail"].as_str().unwrap();
    assert!(detail.ends_with("/proc shows another pid namespace"), "{processes}");
}

/// Two containers that share a home: neither sees the other's processes.
#[test]
fn a_holder_in_another_namespace_is_unknown_to_a_sibling() {
    if !is_allowed("a holder in a sibling", &INSIDE) {
        return;
    }
    let world = World::new();
    let agent = world.agent(&INSIDE);
    world.register(&agent);
    world.write_pid_only(agent.inner);
    let report = world.look(&INSIDE);
    for format in ["claude-code", "maia"] {
        assert_ne!(verdict(&report, format).0, "dead", "{format}");
    }
}

/// The holder need not be an agent: a worker in a container that shares the folder has its number there.
#[test]
fn a_worker_inside_is_found_from_outside_by_its_inner_number() {
    if !is_allowed("a worker inside, seen from outside", &INSIDE) {
        return;
    }
    let world = World::new();
    let mut worker = world.worker(&INSIDE);
    world.register(&worker);
    check(&world.look(&[]), "claude-code", ("alive", "same-process"));
    worker.end();
    assert_eq!(verdict(&world.look(&[]), "claude-code").0, "dead");
}
