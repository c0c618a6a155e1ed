//! Reports about sources that could not be read.

use crate::missing::skip_for_want_of;
use crate::world::World;

/// Returns a world for the program, and one for its build without PostgreSQL, which `tests/run` makes and names.
fn worlds() -> Vec<World> {
    [World::new()].into_iter().chain(without_postgresql()).collect()
}

fn without_postgresql() -> Option<World> {
    let program = std::env::var_os("CLAIMTOP_WITHOUT_POSTGRES").map(World::of);
    if program.is_none() {
        skip_for_want_of("build without PostgreSQL (CLAIMTOP_WITHOUT_POSTGRES)");
    }
    program
}

/// A missing server: no program listens on this port.
const NO_SERVER: [&str; 2] = ["--postgres", "postgres://me@127.0.0.1:1/db"];

#[track_caller]
fn check(view: &str, expected: &str) {
    for world in worlds() {
        let answer = world.run(&[&["ls", view], &NO_SERVER[..]].concat());
        assert_eq!(answer.out.lines().next(), Some(expected), "{answer:?}");
        assert!(answer.out.contains("Not everything could be read:\n  leo:"), "{answer:?}");
    }
}

#[test]
fn nothing_found_is_not_nothing_there() {
    check("claims", "It is not known whether anything is claimed.");
    check("sessions", "It is not known whether there are session records.");
}

#[test]
fn the_source_is_named_beside_what_others_gave() {
    for (world, folder_in_the_way) in worlds().into_iter().zip(worlds()) {
        let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
        world.write("home/.claude/sessions/4194304.json", text);
        let answer = world.run(&[&["ls", "claims"], &NO_SERVER[..]].concat());
        assert!(answer.out.starts_with("KEY"), "{answer:?}");
        assert!(answer.out.contains("Not everything could be read:\n  leo:"), "{answer:?}");
        folder_in_the_way.write("home/.maia", "no folder");
        let answer = folder_in_the_way.run(&["ls", "sessions"]);
        assert!(answer.out.contains("\n  maia: "), "{answer:?}");
    }
}

#[test]
fn a_build_without_postgresql_says_so_and_reads_the_files() {
    let Some(world) = without_postgresql() else { return };
    let id = "3a5f0c1e-8d2b-4c6f-9e7a-1b2c3d4e5f60";
    let session = format!(r#"{{"session_id": "{id}", "pid": 4194304}}"#);
    world.write(&format!("home/.claude-sessions/{id}.json"), &session);
    let named = ["--postgres", "postgres://me:hush@db.example/leo"];
    let said = "leo:PostgreSQL: not read: this build has no PostgreSQL (cargo's feature `postgres` is off)";
    for (view, of_file) in [("sessions", &id[..8]), ("claims", "unknown (no database)")] {
        let answer = world.run(&[&["ls", view], &named[..]].concat());
        assert!(answer.out.contains(of_file) && answer.out.contains(said), "{answer:?}");
        assert!(!answer.out.contains("hush"), "{answer:?}");
        assert!(!world.run(&["ls", view]).out.contains(said), "no database was named");
    }
}

#[test]
fn where_all_was_read_nothing_is_said_of_it() {
    for world in worlds() {
        assert_eq!(world.run(&["ls", "claims"]).out, "Nothing is claimed.\n");
        assert_eq!(world.run(&["ls", "sessions"]).out, "No session record was found.\n");
    }
}

/// Writes a repository at `main` with a linked working tree at `linked`, as git lays them out.
fn linked_trees(world: &World, main: &str, linked: &str) {
    let admin = format!("{main}/.git/worktrees/a");
    world.write(&format!("{main}/.git/HEAD"), "ref: refs/heads/main\n");
    for below in ["objects", "refs"] {
        std::fs::create_dir_all(world.path(&format!("{main}/.git/{below}"))).unwrap();
    }
    world.write(&format!("{admin}/HEAD"), "ref: refs/heads/a\n");
    world.write(&format!("{admin}/commondir"), "../..\n");
    let at = |below: &str| world.path(below).display().to_string();
    world.write(&format!("{admin}/gitdir"), &format!("{}/.git\n", at(linked)));
    world.write(&format!("{linked}/.git"), &format!("gitdir: {}\n", at(&admin)));
}

#[test]
fn one_working_tree_that_was_named_is_read_without_the_others() {
    for world in worlds() {
        linked_trees(&world, "shop", "shop-a");
        for root in ["shop", "shop-a"] {
            let root = world.path(root).display().to_string();
            let report = world.run(&["--root", &root, "ls", "--json"]);
            let report: serde_json::Value = serde_json::from_str(&report.out).unwrap();
            for source in report["sources"].as_array().unwrap() {
                let state = source["state"].as_str().unwrap();
                assert!(matches!(state, "ok" | "absent"), "{root}: {source}");
            }
        }
    }
}

#[test]
fn that_nothing_needs_a_person_or_is_to_be_done_is_said_only_where_everything_was_read() {
    for world in worlds() {
        let now = world.run(&["now"]);
        assert_eq!((now.code, now.out.as_str()), (0, "0 windows, nothing needs you\n"));
        let now = world.run(&["now", "--postgres", "postgres://127.0.0.1:1/leo"]);
        assert!(now.out.contains("not everything could be read: database"), "{now:?}");
        assert_eq!(world.run(&["clean", "--yes"]).out, "There is nothing to do.\n");
        let clean = world.run(&["clean", "--yes", "--postgres", "postgres://127.0.0.1:1/leo"]);
        assert!(clean.out.contains("as far as is known: not everything could be read"), "{clean:?}");
    }
}
