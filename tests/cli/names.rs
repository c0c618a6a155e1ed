//! Names on the screen, for every command; and everything that an ended window has left.

use serde_json::Value;

use crate::ended::{SESSION, ended_window};
use crate::world::{Answer, World};

/// Writes the files that an ended process has left: its registry entry and a record of Maia; returns its PID.
fn left_by_a_window(world: &World, name: &str, session: &str) -> u32 {
    let (pid, _) = ended_window(world, name, session);
    let began = jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let maia = format!(r#"{{"current_agent":"reviewer","session_start":"{began}","version":"1.5"}}"#);
    world.write(&format!("home/.maia/sessions/swarm_session_{pid}.json"), &maia);
    pid
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

#[test]
fn an_ended_window_is_let_go_as_one_and_comes_back_as_one() {
    let world = World::new();
    let pid = left_by_a_window(&world, "shop-cart", SESSION);
    let files = [
        format!("home/.claude/sessions/{pid}.json"),
        format!("home/.maia/sessions/swarm_session_{pid}.json"),
    ];
    let there = || files.each_ref().map(|file| std::fs::exists(world.path(file)).unwrap());
    let plan = json(&world.run(&["release", "shop-cart", "--dry-run", "--json"]));
    assert_eq!(plan["plans"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!(plan["plans"][0]["confirmation"], "yes");
    assert_eq!(plan["plans"][0]["follows"].as_array().unwrap().len(), 2, "{plan}");
    for name in [SESSION, pid.to_string().as_str()] {
        let same = json(&world.run(&["release", name, "--dry-run", "--json"]));
        assert_eq!(same["plans"][0]["what"], plan["plans"][0]["what"], "{name}");
    }
    assert_eq!(there(), [true, true]);
    world.settled(&["release", "shop-cart", "--dry-run"]);
    let done = world.run(&["release", "shop-cart", "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(there(), [false, false]);
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!((undone.code, there()), (0, [true, true]), "{undone:?}");
    let again = world.run(&["undo", "--yes"]);
    assert_eq!(again.code, 3, "one undo took all of it back: {again:?}");
}

#[test]
fn what_did_not_come_back_with_its_window_comes_back_by_the_same_entry_later() {
    let world = World::new();
    let pid = left_by_a_window(&world, "shop-cart", SESSION);
    let maia = format!("home/.maia/sessions/swarm_session_{pid}.json");
    world.settled(&["release", "shop-cart", "--dry-run"]);
    assert_eq!(world.run(&["release", "shop-cart", "--yes"]).code, 0);
    world.write(&maia, "somebody's");
    for _ in 0..2 {
        let partly = world.run(&["undo", "1", "--yes"]);
        assert_eq!(partly.code, 3, "{partly:?}");
        assert!(partly.out.contains("the place is taken"), "{partly:?}");
    }
    let undone = world.run(&["undo", "1", "--beside", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(std::fs::exists(world.path(&format!("{maia}.restored"))).unwrap());
    let again = world.run(&["undo", "1", "--beside", "--yes"]);
    assert!(again.code == 3 && again.out.contains("has undone it"), "nothing is left: {again:?}");
}

#[test]
fn several_things_of_one_name_are_listed_with_what_tells_them_apart() {
    let world = World::new();
    left_by_a_window(&world, "shop-cart", SESSION);
    left_by_a_window(&world, "shop-cart", "db4e04a8-9640-4079-8e03-5ac2d1294846");
    for command in [&["release", "shop-cart", "--yes"][..], &["explain", "shop-cart"], &["park", "shop-cart"]]
    {
        let answer = world.run(command);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{answer:?}");
        assert!(answer.err.contains("shop-cart can mean 2 things"), "{answer:?}");
        assert_eq!(answer.err.matches("/.claude/sessions/").count(), 2, "{answer:?}");
    }
}

#[test]
fn an_ended_window_is_explained_record_by_record() {
    let world = World::new();
    left_by_a_window(&world, "shop-cart", SESSION);
    let told = json(&world.run(&["explain", "shop-cart", "--json"]));
    assert_eq!(told["left"].as_array().unwrap().len(), 2, "{told}");
    let text = world.run(&["explain", SESSION]).out;
    assert!(text.contains("/.claude/sessions/") && text.contains("/.maia/sessions/"), "{text}");
}

#[test]
fn what_is_called_otherwise_is_followed_by_no_events() {
    let world = World::new();
    let answer = world.run(&["events", "nobody"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("nothing here is called nobody"), "{answer:?}");
}
