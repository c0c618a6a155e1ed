//! What is said where a source could not be read.

use crate::world::World;

/// A server that is not there: nobody listens on this port.
const NO_SERVER: [&str; 2] = ["--postgres", "postgres://me@127.0.0.1:1/db"];

#[track_caller]
fn check(view: &str, expected: &str) {
    let world = World::new();
    let answer = world.run(&[&["ls", view], &NO_SERVER[..]].concat());
    assert_eq!(answer.out.lines().next(), Some(expected), "{answer:?}");
    assert!(answer.out.contains("Not everything could be read:\n  leo:"), "{answer:?}");
}

#[test]
fn nothing_found_is_not_nothing_there() {
    check("claims", "It is not known whether anything is claimed.");
    check("sessions", "It is not known whether there are session records.");
}

#[test]
fn the_source_is_named_beside_what_others_gave() {
    let world = World::new();
    let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    world.write("home/.claude/sessions/4194304.json", text);
    let answer = world.run(&[&["ls", "claims"], &NO_SERVER[..]].concat());
    assert!(answer.out.starts_with("KEY"), "{answer:?}");
    assert!(answer.out.contains("Not everything could be read:\n  leo:"), "{answer:?}");
    let folder_in_the_way = World::new();
    folder_in_the_way.write("home/.maia", "no folder");
    let answer = folder_in_the_way.run(&["ls", "sessions"]);
    assert!(answer.out.contains("\n  maia: "), "{answer:?}");
}

#[test]
fn where_all_was_read_nothing_is_said_of_it() {
    let world = World::new();
    assert_eq!(world.run(&["ls", "claims"]).out, "Nothing is claimed.\n");
    assert_eq!(world.run(&["ls", "sessions"]).out, "No session record was found.\n");
}
