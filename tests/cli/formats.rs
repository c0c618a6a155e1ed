//! A person's own formats: checked on real files, shown beside the others, parked when dead.

use std::process::Command;

use crate::missing::skip_for_want_of;
use crate::program;
use crate::world::World;

const PID_FILE: &str = include_str!("../../assets/formats/pid-file.toml");

#[test]
fn a_description_is_tried_on_the_files_that_it_names() {
    let world = World::new();
    let description = world.write("own/pid-file.toml", PID_FILE);
    let description = description.to_str().unwrap();
    let nothing = world.run(&["formats", "check", description]);
    assert_eq!(
        (nothing.code, nothing.out.lines().last()),
        (0, Some("No such file was found.")),
        "{nothing:?}"
    );

    let mut child = program::spawn(Command::new("/bin/sleep").arg("600"));
    world.write("tmp/build.agent.pid", &format!("{}\n", child.id()));
    world.write("home/.local/run/odd.agent.pid", "seven\n");
    let found = world.run(&["formats", "check", description]);
    let pid = child.id().to_string();
    child.kill().unwrap();
    child.wait().unwrap();
    let says = |name: &str, value: &str| {
        found.out.lines().any(|line| line.trim().starts_with(name) && line.trim().ends_with(value))
    };
    assert_eq!(found.code, 0, "{found:?}");
    assert!(says("{tmp}/*.agent.pid", ""), "{found:?}");
    assert!(says("PID", &pid) && says("verdict", "alive (process-present)"), "{found:?}");
    assert!(says("verdict", "unknown (bad-pid)"), "{found:?}");
}

#[test]
fn a_mistake_names_its_line() {
    let world = World::new();
    let wrong = world.write("own/wrong.toml", &PID_FILE.replace("\"lines\"", "\"json\""));
    let answer = world.run(&["formats", "check", wrong.to_str().unwrap()]);
    assert_eq!(answer.code, 2);
    assert!(
        answer.err.contains("line 17, key `pid`: in JSON a field is a pointer such as /owner/pid"),
        "{answer:?}"
    );
    let missing = world.run(&["formats", "check", "/nowhere/x.toml"]);
    assert_eq!(missing.code, 2, "{missing:?}");
    world.write("home/.config/claimtop/formats/wrong.toml", "name = 'x'\n");
    let everywhere = world.run(&["ls"]);
    assert_eq!(everywhere.code, 2);
    assert!(everywhere.err.contains("formats/wrong.toml"), "{everywhere:?}");
}

#[test]
fn what_is_dead_is_parked_where_the_description_says_so() {
    let world = World::new();
    let mut child = Command::new("/bin/true").spawn().unwrap();
    let path = world.write("tmp/build.agent.pid", &format!("{}\n", child.id()));
    child.wait().unwrap();
    let path = path.canonicalize().unwrap().to_str().unwrap().to_owned();
    let never = PID_FILE.replace("when-dead", "never");
    world.write("home/.config/claimtop/formats/pid-file.toml", &never);
    let refused = world.run(&["release", &path, "--yes"]);
    assert_eq!(refused.code, 3);
    assert!(refused.out.contains("does not allow parking it"), "{refused:?}");

    world.write("home/.config/claimtop/formats/pid-file.toml", PID_FILE);
    let listed = world.run(&["ls", "sessions", "--json"]);
    assert!(listed.out.contains(r#""format": "pid-file""#), "{listed:?}");
    let done = world.settled(&["release", &path, "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!std::fs::exists(&path).unwrap());
    assert_eq!(world.run(&["undo", "--yes"]).code, 0);
    assert!(std::fs::exists(&path).unwrap());
}

#[test]
fn two_files_cannot_describe_one_format() {
    let world = World::new();
    for name in ["a", "b"] {
        world.write(&format!("home/.config/claimtop/formats/{name}.toml"), PID_FILE);
    }
    let answer = world.run(&["ls"]);
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("another file describes pid-file"), "{answer:?}");
}

/// Tries a description with a zone on a file that was last written at a local time.
#[track_caller]
fn check_zone(zone: &str, code: i32, expected: &str) {
    let world = World::new();
    let text = format!(
        "name = 'p'\nfiles = ['{{tmp}}/x']\nread = 'lines'\nzone = '{zone}'\n[fields]\nheartbeat_at = '1'\n"
    );
    let description = world.write("own/p.toml", &text);
    world.write("tmp/x", "2026-07-01T12:00:00\n");
    let answer = world.run(&["formats", "check", description.to_str().unwrap()]);
    assert_eq!(answer.code, code, "{answer:?}");
    assert!((answer.out + &answer.err).contains(expected), "{expected}");
}

#[test]
fn a_zone_has_a_name_that_the_system_knows() {
    match std::path::Path::new("/usr/share/zoneinfo").is_dir() {
        true => check_zone("Etc/GMT-3", 0, "2026-07-01T09:00:00Z"),
        false => skip_for_want_of("list of zones (tzdata)"),
    }
    check_zone("Europe/Atlantis", 2, "line 4, key `zone`: this system knows no time zone of this name");
}
