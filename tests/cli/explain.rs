//! `explain`, and the names that it and the commands that act accept.

use std::path::PathBuf;

use serde_json::Value;

use crate::world::{Answer, World};

/// Writes the registry entry of a missing window, and returns its path.
fn dead_window(world: &World) -> PathBuf {
    let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    world.write("home/.claude/sessions/4194304.json", text)
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

#[test]
fn a_claim_is_explained_by_its_record() {
    let world = World::new();
    dead_window(&world);
    let snapshot = json(&world.run(&["ls", "--json"]));
    let key = |list: &str| snapshot[list][0]["key"].as_str().unwrap().to_owned();
    let (claim, record) = (key("claims"), key("records"));
    let claim_told = json(&world.run(&["explain", &claim, "--json"]));
    let record_told = json(&world.run(&["explain", &record, "--json"]));
    assert_eq!(claim_told["claim"]["key"], claim);
    assert_eq!(claim_told["verdict"], record_told["record"]["verdict"]);
    assert_eq!(claim_told["verdict"]["reason"], "no-process");
    assert!(claim_told["findings"].as_array().unwrap().iter().any(|found| found["code"] == "dead-holder"));
    let text = world.run(&["explain", &claim]);
    assert!(text.out.contains("dead-holder") && !text.out.contains("No known problems"), "{text:?}");
}

#[test]
fn an_empty_key_means_nothing_not_the_only_thing() {
    let world = World::new();
    let path = dead_window(&world);
    for command in [&["release", "", "--yes"][..], &["migrate", "", "--yes"], &["explain", ""]] {
        let answer = world.run(command);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{answer:?}");
        assert!(answer.err.contains("an empty key means nothing"), "{answer:?}");
    }
    assert!(std::fs::exists(path).unwrap());
}

#[test]
fn a_file_in_the_working_folder_is_found_by_its_name() {
    let world = World::new();
    // The working folder contains no links, as the system reports it.
    let folder = dead_window(&world).canonicalize().unwrap().parent().unwrap().to_owned();
    let home = folder.ancestors().nth(2).unwrap().to_str().unwrap();
    let arguments = ["explain", "4194304.json", "--home", home, "--tmp", home];
    let output = world.command(&arguments).current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(world.run(&arguments).code, 2, "it lies in another folder");
}
