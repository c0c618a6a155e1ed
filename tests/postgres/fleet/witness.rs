//! The witness and the viewer as a person runs them.

use std::process::Stdio;

use crate::cluster::Database;
use crate::fleet::machine::{Machine, Running, far_records, text, until};
use crate::fleet::stage::fleet;

#[test]
fn a_machine_that_publishes_is_seen_by_its_team_with_what_it_found() {
    let database = fleet();
    let (witness, viewer) = (Machine::new("one"), Machine::new("two"));
    witness.configure("team = 'core'");
    let alice = database.url_of("alice", database.cluster.port);
    let vera = database.url_of("vera", database.cluster.port);
    let dry = witness.run(&["witness", "--dry-run"]);
    assert_eq!(dry.status.code(), Some(0), "{}", text(&dry));
    assert!(text(&dry).contains("~/.claude/sessions/4000001.json"), "{}", text(&dry));
    let home = witness.folder.path().join("home").display().to_string();
    assert!(!text(&dry).contains(&home), "{}", text(&dry));

    let running = witness.witness(&alice);
    let seen = until("the record of another machine", || {
        let seen = viewer.seen(&vera);
        (!far_records(&seen).is_empty()).then_some(seen)
    });
    assert_eq!(seen["machines"][0]["state"], "live", "{}", seen["machines"]);
    assert_eq!(seen["machines"][0]["transport"], "postgres");
    let verdict = seen["records"]
        .as_array()
        .unwrap()
        .iter()
        .find(|record| record["key"].as_str().is_some_and(|key| key.contains('@')));
    assert_eq!(verdict.unwrap()["verdict"]["state"], "dead");
    let told = database.sql("SELECT string_agg(payload::text, ' ') FROM claimtop.part");
    assert!(!told.contains(&home) && told.contains("~/.claude"), "{told}");
    assert_eq!(database.sql("SELECT team FROM claimtop.host"), "core");

    // A state folder has only one witness.
    let second = witness.run(&["witness", "--fleet", &alice]);
    assert_eq!(second.status.code(), Some(3), "{}", text(&second));

    // Its connection is cut, and it reconnects with the changes made meanwhile.
    let sequence = || database.sql("SELECT sequence FROM claimtop.host").parse::<i64>().unwrap();
    let before = sequence();
    database.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE usename = 'alice' AND datname = current_database()",
    );
    std::fs::remove_file(witness.folder.path().join("home/.claude/sessions/4000001.json")).unwrap();
    until("the record that has gone", || {
        let gone =
            database.sql("SELECT count(*) FROM claimtop.part WHERE kind = 'record' AND payload IS NOT NULL");
        (sequence() > before && gone == "0").then_some(())
    });

    // Another one of the same state folder continues under the same ID, in an epoch of its own.
    drop(running);
    let epoch = || database.sql("SELECT string_agg(epoch::text, ' ') FROM claimtop.host");
    let before = epoch();
    let _again = witness.witness(&alice);
    until("an epoch of its own", || (epoch() != before).then_some(()));
    assert!(!epoch().contains(' '), "one host: {}", epoch());
}

#[test]
fn nothing_that_is_published_says_where_a_repository_lies() {
    let database = fleet();
    let witness = Machine::new("one");
    let repository = witness.folder.path().join("clients/secretproj");
    for name in ["objects", "refs/heads"] {
        std::fs::create_dir_all(repository.join(".git").join(name)).unwrap();
    }
    std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let root = repository.to_str().unwrap();
    let folder = witness.folder.path().to_str().unwrap();
    let alice = database.url_of("alice", database.cluster.port);
    let dry = text(&witness.run(&["witness", "--dry-run", "--root", root]));
    assert!(dry.contains("repo:secretproj") && !dry.contains(folder), "{dry}");
    let mut command = witness.command(&["witness", "--fleet", &alice, "--root", root]);
    let _running = Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let told = until("the repository", || {
        let told = database.sql("SELECT string_agg(id || ' ' || payload::text, ' ') FROM claimtop.part");
        told.contains("repo:secretproj").then_some(told)
    });
    assert!(!told.contains(folder) && !told.contains("repo:/"), "{told}");
    // If configured so, it publishes whole paths.
    witness.configure("paths = 'whole'");
    let whole = text(&witness.run(&["witness", "--dry-run", "--root", root]));
    assert!(whole.contains(&format!("repo:{root}")), "{whole}");
}

#[test]
fn a_database_that_is_not_ready_is_told_of_and_everything_else_is_shown() {
    let database = Database::new();
    let viewer = Machine::new("here");
    let url = database.url();
    let listed = viewer.run(&["ls", "--fleet", &url]);
    assert_eq!(listed.status.code(), Some(4), "{}", text(&listed));
    let seen = viewer.seen(&url);
    assert_eq!(seen["machines"][0]["state"], "unreached");
    assert!(seen["machines"][0]["detail"].as_str().unwrap().contains("claimtop"), "{}", seen["machines"]);
    assert_eq!(seen["records"].as_array().map(Vec::len), Some(1));
    let none = viewer.run(&["witness"]);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none));
    assert!(text(&none).contains("no database is named"));
    let unit = viewer.run(&["witness", "unit"]);
    assert!(text(&unit).contains("ExecStart=\"") && text(&unit).contains("witness\n"), "{}", text(&unit));
}
