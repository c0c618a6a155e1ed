//! The repository that is looked at because claimtop runs in it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::missing::skip_for_want_of;
use crate::world::World;

/// Lays out a repository with a linked working tree `<at>-wt`, as git does.
fn repository(world: &World, at: &str) {
    for below in ["objects", "refs"] {
        std::fs::create_dir_all(world.path(&format!("{at}/.git/{below}"))).unwrap();
    }
    world.write(&format!("{at}/.git/HEAD"), "ref: refs/heads/main\n");
    let admin = format!("{at}/.git/worktrees/feature");
    let of = |below: &str| world.path(below).display().to_string();
    world.write(&format!("{admin}/HEAD"), "ref: refs/heads/feature\n");
    world.write(&format!("{admin}/commondir"), "../..\n");
    world.write(&format!("{admin}/gitdir"), &format!("{}/.git\n", of(&format!("{at}-wt"))));
    world.write(&format!("{at}-wt/.git"), &format!("gitdir: {}\n", of(&admin)));
    std::fs::create_dir_all(world.path(&format!("{at}/src/deep"))).unwrap();
}

/// Runs the program in a folder.
fn run_in(world: &World, folder: &str, arguments: &[&str]) -> String {
    let output = world.command(arguments).current_dir(world.path(folder)).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the repositories that are read from a folder.
fn read_from(world: &World, folder: &str) -> Vec<String> {
    let report = run_in(world, folder, &["ls", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap_or_else(|_| panic!("{report}"));
    let ids = report["sources"].as_array().unwrap().iter().map(|source| source["id"].as_str().unwrap());
    let own = world.path("").canonicalize().unwrap();
    let repos = ids.filter_map(|id| id.strip_prefix("repo:")).map(Path::new);
    repos.map(|repo| repo.strip_prefix(&own).unwrap_or(repo).display().to_string()).collect()
}

#[track_caller]
fn check(world: &World, folder: &str, expected: &[&str]) {
    assert_eq!(read_from(world, folder), expected, "in {folder}");
}

#[test]
fn the_repository_that_claimtop_runs_in_is_looked_at_from_each_of_its_folders_and_trees() {
    let world = World::new();
    repository(&world, "home/shop");
    repository(&world, "home/other");
    for folder in [
        "home/shop",
        "home/shop/src/deep",
        "home/shop-wt",
        "home/shop/.git",
        "home/shop/.git/worktrees/feature",
    ] {
        check(&world, folder, &["home/shop"]);
    }
    check(&world, "home", &[]);
    check(&world, "tmp", &[]);
}

#[test]
fn a_bare_one_is_looked_at_too() {
    let world = World::new();
    for below in ["objects", "refs"] {
        std::fs::create_dir_all(world.path(&format!("home/shop.git/{below}"))).unwrap();
    }
    world.write("home/shop.git/HEAD", "ref: refs/heads/main\n");
    world.write("home/shop.git/config", "[core]\n\tbare = true\n");
    check(&world, "home/shop.git", &["home/shop.git"]);
    check(&world, "home/shop.git/refs", &["home/shop.git"]);
}

#[test]
fn what_lies_outside_of_the_only_folders_to_be_read_is_not() {
    let world = World::new();
    repository(&world, "shop");
    check(&world, "shop", &[]);
    let root = world.path("shop").display().to_string();
    let named = run_in(&world, "shop", &["ls", "--json", "--root", &root]);
    assert!(named.contains("\"repo:"), "{named}");
    // This checkout is one as well.
    assert!(!world.run(&["ls", "--json"]).out.contains("\"repo:"));
}

#[test]
fn a_home_that_is_a_repository_is_not_every_folders() {
    let world = World::new();
    repository(&world, "home");
    std::fs::create_dir_all(world.path("home/downloads")).unwrap();
    check(&world, "home", &[]);
    check(&world, "home/downloads", &[]);
    repository(&world, "home/shop");
    check(&world, "home/shop", &["home/shop"]);
}

#[cfg(unix)]
#[test]
fn that_of_another_user_is_not_looked_at() {
    let world = World::new();
    repository(&world, "home/shop");
    check(&world, "home/shop", &["home/shop"]);
    for of_another in ["home/shop", "home/shop/.git"] {
        let path = world.path(of_another);
        if std::os::unix::fs::chown(&path, Some(65_534), None).is_err() {
            return eprintln!("skipped: files cannot be given away here");
        }
        check(&world, "home/shop", &[]);
        std::os::unix::fs::chown(&path, Some(rustix::process::geteuid().as_raw()), None).unwrap();
    }
    check(&world, "home/shop", &["home/shop"]);
}

#[test]
fn its_sessions_are_known_to_every_command_that_looks() {
    let world = World::new();
    repository(&world, "home/shop");
    let id = "95fe798d-3725-4649-974a-0dec79220193";
    let tree = world.path("home/shop").display().to_string();
    let state = format!(
        r#"{{"session_id":"{id}","base_commit":"3397a23560d2f07f1d894e0049da6c8fb7a9553b","worktree_path":"{tree}","worktree_id":"gone","phase":"idle","last_interaction_time":"2026-11-20T21:00:00Z","checkpoint_count":0,"first_prompt":"Add login"}}"#
    );
    world.write(&format!("home/shop/.git/entire-sessions/{id}.json"), &state);
    for command in
        [&["ls"][..], &["ls", "sessions"], &["doctor"], &["explain", id], &["report"], &["now", "--json"]]
    {
        let here = run_in(&world, "home/shop/src/deep", command);
        let elsewhere = run_in(&world, "home", command);
        assert_ne!(here, elsewhere, "{command:?}");
    }
    let plan = |folder| run_in(&world, folder, &["release", id, "--dry-run"]);
    assert!(plan("home/shop-wt").contains("end the session Add login"), "{}", plan("home/shop-wt"));
    assert!(!plan("home").contains("end the session"), "{}", plan("home"));
    let config = run_in(&world, "home/shop/src", &["config"]);
    assert!(
        config.lines().any(|line| line.starts_with("root ") && line.contains("claimtop runs in it")),
        "{config}"
    );
}

#[test]
fn a_real_linked_tree_leads_to_its_repository() {
    if Command::new("git").arg("--version").output().is_err() {
        return skip_for_want_of("git");
    }
    let world = World::new();
    world.write("home/shop/a.txt", "a\n");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.env("HOME", world.path("home")).current_dir(world.path("home/shop"));
        let own = ["-c", "user.name=dev", "-c", "user.email=dev@x"];
        assert!(command.args(own).args(arguments).output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "a"]);
    git(&["worktree", "add", "-q", "-b", "fix", "../fix"]);
    git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    check(&world, "home/fix", &["home/shop"]);
    check(&world, "home/bare.git", &["home/bare.git"]);
}
