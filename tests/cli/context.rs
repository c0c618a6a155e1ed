//! `context-id` as a hook calls it.

use crate::program;
use crate::world::World;
use serde_json::Value;

const ID: &str = "7b2d4f0e-2f5e-4d0c-9a51-3f4a0c8e6b11";

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_given_id_comes_first() {
    let answer = World::new().run_with(&["context-id", "--strict"], &[("CLAUDE_SESSION_ID", ID)]);
    assert_eq!((answer.code, answer.out, answer.err), (0, format!("{ID}\n"), String::new()));
}

#[test]
fn a_given_id_is_taken_as_maia_takes_it() {
    let answer = World::new().run_with(&["context-id", "--strict"], &[("CLAUDE_SESSION_ID", "sess.1:2")]);
    assert_eq!((answer.code, answer.out.as_str(), answer.err.as_str()), (0, "sess.1:2\n", ""));
}

#[test]
fn an_id_that_could_leave_its_folder_is_refused() {
    let world = World::new();
    let answer = world.run_with(&["context-id"], &[("CLAUDE_SESSION_ID", "../../etc/x\u{1b}[31m")]);
    assert_eq!(answer.code, 0);
    assert!(answer.err.contains("CLAUDE_SESSION_ID is not a usable ID"), "{}", answer.err);
    assert!(!answer.err.contains('\u{1b}'));
    assert!(answer.out.trim().parse::<u32>().is_ok(), "{}", answer.out);
}

#[test]
fn without_an_agent_the_parent_is_named_and_is_not_stable() {
    let world = World::new();
    let me = std::process::id();
    let answer = world.run(&["context-id", "--json"]);
    let json = parsed(&answer.out);
    let chain = json["chain"].as_array().unwrap();
    assert!(chain.len() > 1);
    assert_eq!(chain[1]["pid"], me);
    // The tests themselves may run inside an agent.
    if json["context_id"]["source"] == "parent-pid" {
        assert_eq!(json["context_id"]["value"], me.to_string());
        assert_eq!(json["context_id"]["stable"], false);
        let strict = world.run(&["context-id", "--strict"]);
        assert_eq!((strict.code, strict.out.as_str()), (3, ""));
        assert!(strict.err.contains("no stable context ID"), "{}", strict.err);
    }
}

#[test]
fn the_agents_own_session_stands_beside_and_decides_nothing() {
    let answer = World::new().run_with(
        &["context-id", "--json"],
        &[("CLAUDE_SESSION_ID", "mine"), ("CLAUDE_CODE_SESSION_ID", ID)],
    );
    let json = parsed(&answer.out);
    assert_eq!(json["session_id"], ID);
    assert_eq!(json["context_id"]["value"], "mine");
    assert_eq!(json["context_id"]["source"], "env");
}

#[test]
fn another_process_is_asked_for_its_own_environment() {
    let world = World::new();
    let mut command = std::process::Command::new("sleep");
    command.arg("60").env("CLAUDE_SESSION_ID", "theirs").stdin(std::process::Stdio::null());
    let mut child = program::spawn(&mut command);
    let pid = child.id().to_string();
    let answer = world.run_with(&["context-id", "--pid", &pid], &[("CLAUDE_SESSION_ID", "mine")]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(answer.out, "theirs\n");
}

#[test]
fn a_process_that_is_not_there_is_named() {
    let answer = World::new().run(&["context-id", "--pid", "4194304"]);
    assert_eq!((answer.code, answer.out.as_str()), (4, ""));
    assert!(answer.err.contains("failed to read process 4194304"), "{}", answer.err);
}

#[test]
fn a_process_without_a_parent_has_none() {
    let world = World::new();
    for arguments in [&["context-id", "--pid", "1"][..], &["context-id", "--pid", "1", "--json"]] {
        let answer = world.run(arguments);
        assert_eq!((answer.code, answer.out.as_str()), (3, ""), "{answer:?}");
        assert!(answer.err.contains("process 1 has no context ID"), "{answer:?}");
    }
}
