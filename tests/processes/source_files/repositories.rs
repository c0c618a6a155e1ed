//! Repositories: found from everywhere, read without git, and their locks.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{DescribedFormat, Format, SourceState, VerdictState};
use claimtop::source::places::Places;

use super::{SESSION, World, collector, health};

/// Lays out a repository with a linked working tree, as git does.
fn repository(world: &World, at: &str) -> PathBuf {
    let top = world.folder(at);
    world.folder(&format!("{at}/.git/objects"));
    world.write(&format!("{at}/.git/HEAD"), "ref: refs/heads/main\n");
    let tree = world.folder(&format!("{at}-wt"));
    let admin = format!("{at}/.git/worktrees/feature");
    world.write(&format!("{at}-wt/.git"), &format!("gitdir: {}\n", world.path(&admin).display()));
    world.write(&format!("{admin}/gitdir"), &format!("{}/.git\n", tree.display()));
    world.write(&format!("{admin}/commondir"), "../..\n");
    world.write(&format!("{admin}/HEAD"), "ref: refs/heads/feature/x\n");
    world.write(&format!("{admin}/locked"), "claude agent a1 (pid 77 start 5)\n");
    let gone = format!("{at}/.git/worktrees/gone");
    world.write(&format!("{gone}/gitdir"), "../../../../gone-wt/.git\n");
    world.write(&format!("{gone}/HEAD"), "0000000000000000000000000000000000000001\n");
    world.write(&format!("{at}/.git/refs/heads/entire/0123456-e3b0c4"), "x\n");
    world.write(&format!("{at}/.git/refs/heads/main"), "x\n");
    let packed = "# pack-refs with: peeled\n0000000000000000000000000000000000000001 refs/heads/entire/checkpoints/v1\n";
    world.write(&format!("{at}/.git/packed-refs"), packed);
    top
}

#[track_caller]
fn check_repository(world: &World, root: &str) {
    let places = Places { roots: vec![world.path(root)], ..world.places() };
    let snapshot = collector(places).look();
    let [repo] = snapshot.repos.as_slice() else { panic!("{root}: {:?}", snapshot.repos) };
    assert_eq!(repo.common_dir, world.path("home/src/app/.git"));
    let trees: Vec<_> = repo
        .worktrees
        .iter()
        .map(|tree| {
            let path = tree.path.strip_prefix(world.path("home/src")).unwrap().to_str().unwrap();
            (path, tree.id.as_str(), tree.branch.as_ref().map(|branch| branch.raw()), tree.exists)
        })
        .collect();
    assert_eq!(
        trees,
        [
            ("app", "", Some("main"), true),
            ("app-wt", "feature", Some("feature/x"), true),
            ("gone-wt", "gone", None, false),
        ],
        "{root}"
    );
    let locked =
        repo.worktrees.iter().map(|tree| tree.locked.as_ref().map(|why| why.raw())).collect::<Vec<_>>();
    assert_eq!(locked, [None, Some("claude agent a1 (pid 77 start 5)"), None]);
    assert_eq!(repo.entire_refs, ["refs/heads/entire/0123456-e3b0c4", "refs/heads/entire/checkpoints/v1"]);
    let badge = format!("repo:{}", world.path("home/src/app").display());
    assert_eq!(health(&snapshot, &badge), (SourceState::Ok, "3 working trees".to_owned()));
}

#[test]
fn a_repository_is_found_from_its_top_from_above_from_within_and_from_its_trees() {
    let world = World::new();
    repository(&world, "home/src/app");
    world.folder("home/src/app/deep/er");
    for root in ["home/src/app", "home/src", "home", "home/src/app-wt", "home/src/app/deep/er"] {
        check_repository(&world, root);
    }
}

#[test]
fn branches_that_records_claim_are_looked_up_and_no_others() {
    let world = World::new();
    let top = repository(&world, "home/src/app");
    world.write("home/src/app/.git/refs/heads/feature/x", "x\n");
    let packed = "0000000000000000000000000000000000000001 refs/heads/packed\n^00\n";
    world.write("home/src/app/.git/packed-refs", packed);
    let claimed = ["main", "feature", "feature/x", "packed", "pack", "gone", "../HEAD", "refs/heads/packed"];
    // These could be meant, but are not branches.
    let others = ["HEAD", "refs/remotes/origin/main"];
    for (at, name) in claimed.iter().chain(&others).enumerate() {
        let text = format!(r#"{{"cwd":"{}","branch":"{name}"}}"#, top.display());
        world.write(&format!("home/queue/{at}.json"), &text);
    }
    let queue = "name = \"queue\"\nfiles = [\"~/queue/*\"]\nread = \"json\"\nclaim = \"branch\"\n\
                 [fields]\ncwd = \"/cwd\"\nclaim = \"/branch\"\n";
    let own = [DescribedFormat::new(claimtop::described::parse(queue, &|_| None).unwrap())];
    let mut collector = world.collector().with_own(&own);
    let repos = collector.look().repos;
    let found: Vec<(&str, bool)> =
        repos[0].claimed_branches.iter().map(|(name, is_there)| (name.as_str(), *is_there)).collect();
    let expected = [
        ("feature", false),
        ("feature/x", true),
        ("gone", false),
        ("main", true),
        ("pack", false),
        ("packed", true),
    ];
    assert_eq!(found, expected);
    // Nothing is known of a repository whose refs are in tables.
    world.folder("home/src/app/.git/reftable");
    assert!(collector.look().repos[0].claimed_branches.is_empty());
}

#[test]
fn branches_of_entire_that_are_kept_in_tables_are_not_read_and_so_not_missed() {
    let world = World::new();
    repository(&world, "home/src/app");
    world.folder("home/src/app/.git/reftable");
    let badge = format!("repo:{}", world.path("home/src/app").display());
    let look = || collector(Places { roots: vec![world.path("home/src/app")], ..world.places() }).look();
    assert_eq!(health(&look(), &badge).0, SourceState::Ok);
    world.folder("home/src/app/.git/entire-sessions");
    assert_eq!(health(&look(), &badge).0, SourceState::Partial);
}

#[test]
fn a_record_leads_to_the_repository_it_names() {
    let world = World::new();
    let top = repository(&world, "home/src/app");
    let text = SESSION.replace(
        "\"version\"",
        &format!("\"repository\":{{\"working_directory\":\"{}/gone\"}},\"version\"", top.display()),
    );
    world.write("home/.maia/sessions/swarm_session_77.json", &text);
    let snapshot = world.collector().look();
    assert_eq!(snapshot.repos.iter().map(|repo| &repo.common_dir).collect::<Vec<_>>(), [&top.join(".git")]);
}

#[test]
fn nothing_outside_the_named_folders_is_read() {
    let world = World::new();
    let top = repository(&world, "outside/app");
    let text = SESSION.replace(
        "\"version\"",
        &format!("\"repository\":{{\"working_directory\":\"{}\"}},\"version\"", top.display()),
    );
    world.write("home/.maia/sessions/swarm_session_77.json", &text);
    assert!(world.collector().look().repos.is_empty());
    // A working tree inside, whose repository is outside: only the tree is searched.
    let tree = world.path("outside/app-wt");
    let places = Places { roots: vec![tree.clone()], ..world.places() };
    let snapshot = collector(places).look();
    assert!(snapshot.repos.iter().all(|repo| repo.common_dir.starts_with(&tree)));
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_has_gits_lock_open_is_told_as_its_holder() {
    let world = World::new();
    let tree = repository(&world, "home/src/shop");
    let lock = world.write("home/src/shop/.git/index.lock", "DIRC");
    let mut collector = collector(Places { roots: vec![tree], ..world.places() });
    let mut holder = || {
        let snapshot = collector.look();
        let record = snapshot.records.iter().find(|record| record.format == Format::Git).unwrap();
        record.holder.as_ref().and_then(|holder| holder.pid.as_ref()?.valid())
    };
    assert_eq!(holder(), None);
    let open = std::fs::File::open(&lock).unwrap();
    let mut child = crate::program::spawn(std::process::Command::new("sleep").arg("60").stdin(open));
    let found = holder();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(found, Some(child.id()));
    assert_eq!(holder(), None);
}

#[cfg(target_os = "linux")]
#[test]
fn a_git_that_works_in_a_tree_keeps_its_lock_alive() {
    let world = World::new();
    let tree = repository(&world, "home/src/shop");
    world.write("home/src/shop/.git/index.lock", "DIRC");
    // Every program named git is taken for git.
    let git = world.write("home/git", "#!/bin/sh\nread -r _\n");
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o700)).unwrap();
    let waiting = std::process::Stdio::piped();
    let mut child = crate::program::spawn(std::process::Command::new(&git).stdin(waiting).current_dir(&tree));
    let mut collector = collector(Places { roots: vec![tree], ..world.places() });
    let snapshot = collector.look();
    let report = assess(&snapshot, &Policy { signatures: Signatures::built_in().unwrap() });
    child.kill().unwrap();
    child.wait().unwrap();
    let lock = report.records().find(|record| record.title.raw().starts_with("index of")).unwrap();
    assert_eq!(lock.verdict.state, VerdictState::Alive, "{:?}", lock.verdict);
}
