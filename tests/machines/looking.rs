//! Every command that looks includes the machines of the configuration, unless `--here` is given; status bars and
//! agents' hooks start nothing.

use super::far::{are_possible, configure, json, over_all};
use super::stage::{Made, Stage};
use super::world::{Answer, World};

const PATH: [(&str, &str); 1] = [("PATH", "/usr/bin:/bin")];

const HELLO: &str = r#"{"hello":{"schema":"claimtop.stream.v1","version":"0.1.0","machine":"m","store":"s","host":"h","boot":null,"pid_namespace":null,"now":"2026-11-24T00:00:00Z"}}"#;
const LOOK: &str = r#"{"look":{"at":"2026-11-24T00:00:00Z"}}"#;

#[track_caller]
fn check(world: &World, arguments: &[&str], code: i32, part: &str) -> Answer {
    let answer = world.run_with(arguments, &PATH);
    assert!(answer.code == code && answer.out.contains(part), "{arguments:?}: {answer:?}");
    answer
}

#[test]
fn every_command_that_looks_looks_at_the_machines_of_the_configuration() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    configure(&world, &["devbox", "gpu"], &[]);
    check(&world, &["ls"], 0, "@gpu");
    check(&world, &["now"], 0, "devbox-pay");
    check(&world, &["leftovers"], 0, "");
    check(&world, &["report"], 0, "gpu-notes");
    check(&world, &["explain", "gpu-pay"], 0, "@gpu");
    check(&world, &[], 0, "@gpu");
    let named = check(&world, &["ls", "--on", "devbox"], 0, "Not asked: gpu\n");
    assert!(!named.out.contains("@gpu"), "{named:?}");
    let all = over_all(&world, &["ls"]);
    assert!(all.out.contains("@gpu") && !all.out.contains("Not asked"), "{all:?}");
}

/// A machine that leaves a mark whenever its program is started.
fn marking(world: &World, script: &str) -> std::path::PathBuf {
    let mark = world.path("started");
    let script = format!("echo >> {}; {script}", mark.display());
    configure(world, &[], &[("box", &["sh", "-c", &script])]);
    mark
}

#[test]
fn here_starts_nothing_and_says_what_was_not_asked() {
    let world = World::new();
    let mark = marking(&world, "exit 1");
    for command in [&["ls"][..], &["ls", "problems"], &["doctor"], &["now"], &["leftovers"], &["report"], &[]]
    {
        let answer = check(&world, &[command, &["--here"]].concat(), 0, "Not asked: box\n");
        assert!(!answer.out.to_lowercase().contains("no problem"), "{command:?}: {answer:?}");
    }
    let told = json(&world.run_with(&["ls", "--json", "--here"], &PATH));
    assert_eq!(told["not_asked"], serde_json::json!([{"machine": "box"}]));
    for refused in [&["clean", "--here"][..], &["machines", "--here"], &["ls", "--here", "--on", "box"]] {
        assert_eq!(world.run_with(refused, &PATH).code, 2, "{refused:?}");
    }
    assert!(!mark.exists());
    let missing = check(&world, &["doctor"], 4, "machine:box: its program has ended with code 1");
    assert!(mark.exists() && !missing.out.contains("No problem"), "{missing:?}");
}

#[test]
fn a_status_bar_and_hooks_start_no_program_and_the_bar_says_what_was_known() {
    let world = World::new();
    let script = format!(
        "[ -e {}/gone ] && exit 1; echo '{HELLO}'; echo '{LOOK}'; sleep 60",
        world.path("").display()
    );
    let mark = marking(&world, &script);
    let quiet =
        [&["statusline"][..], &["context-id"], &["bind"], &["hook", "check"], &["guard", "--for", "claude"]];
    for command in quiet {
        let answer = world.run_with(command, &PATH);
        assert!(!answer.out.contains("elsewhere"), "{command:?}: {answer:?}");
    }
    assert!(!mark.exists(), "a machine was asked");
    check(&world, &["ls"], 0, "");
    std::fs::remove_file(&mark).unwrap();
    check(&world, &["statusline"], 0, " · elsewhere ");
    check(&world, &["statusline"], 0, " ago: 0 windows\n");
    check(&world, &["statusline", "--ascii"], 0, " | elsewhere ");
    assert!(!mark.exists(), "a machine was asked");
    world.write("gone", "");
    check(&world, &["ls"], 4, "machine:box: ");
    check(&world, &["statusline"], 0, " ago: 0 windows, 1 machine not seen\n");
    let here = world.run_with(&["statusline", "--here"], &PATH);
    assert!(!here.out.contains("elsewhere"), "{here:?}");
}

#[test]
fn nothing_is_kept_by_who_may_change_nothing() {
    let world = World::new();
    marking(&world, &format!("echo '{HELLO}'; echo '{LOOK}'; sleep 60"));
    check(&world, &["ls", "--read-only"], 0, "");
    assert!(!world.path("home/.local/state/claimtop/elsewhere.json").exists());
    check(&world, &["ls"], 0, "");
    assert!(world.path("home/.local/state/claimtop/elsewhere.json").exists());
}

#[test]
fn a_machine_that_says_nothing_is_named_and_a_look_ends() {
    let world = World::new();
    marking(&world, "exec sleep 600");
    check(&world, &["ls"], 4, "machine:box: no contact for 15 s");
}

#[test]
fn a_key_is_explained_and_released_by_its_machine_alone() {
    let stage = Stage::new(Made::Home, "operate");
    let key = stage.key();
    let explained = stage.run(&["explain", &key]);
    assert!(explained.code == 0 && explained.out.contains(&key), "{explained:?}");
    // Things elsewhere with this name are offered by keys that work as they stand.
    let refused = stage.run(&["release", &stage.name, "--dry-run"]);
    assert!(refused.code == 2 && refused.err.contains("other machines have these"), "{refused:?}");
    let named = refused.err.split_whitespace().find(|word| word.ends_with("@far")).map(str::to_owned);
    let named = named.unwrap_or_else(|| panic!("{refused:?}"));
    let found = stage.run(&["release", &named, "--dry-run"]);
    assert!(found.code == 3 && found.out.contains("close the window"), "{found:?}");
    let without = stage.run(&["explain", &key, "--here"]);
    assert_eq!(without.code, 2, "{without:?}");
}
