//! `foresee`: windows in working trees that will conflict, and what a repository keeps when it is killed.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::terminal::world::{Agent, World};

/// How often it is killed, unless `CLAIMTOP_ROUNDS` says otherwise.
const ROUNDS: u64 = 20;

fn git(world: &World, folder: &str, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(world.path(folder));
    command.args(["-c", "user.name=dev", "-c", "user.email=dev@example.org"]).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes a repository with two working trees that edit the same line, and starts a window in each.
fn stage(world: &World) -> Option<[Agent; 2]> {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: git was not found");
        return None;
    }
    world.write("home/shop/src/pay.rs", "one\ntwo\nthree\n");
    git(world, "home/shop", &["init", "-q", "-b", "main"]);
    git(world, "home/shop", &["add", "-A"]);
    git(world, "home/shop", &["commit", "-q", "-m", "a"]);
    Some(["api", "ui"].map(|name| {
        git(world, "home/shop", &["worktree", "add", "-q", "-b", name, &format!("../{name}")]);
        world.write(&format!("home/{name}/src/pay.rs"), &format!("one\n{name}\nthree\n"));
        let agent = world.agent_in(&world.path(&format!("home/{name}")));
        world.register(agent.id(), name);
        agent
    }))
}

fn foresee(world: &World, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    command.env_clear().env("HOME", world.path("home")).env("PATH", std::env::var_os("PATH").unwrap());
    command.arg("--home").arg(world.path("home")).arg("--tmp").arg(world.path("tmp"));
    command.arg("foresee").args(arguments).stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns everything in a folder: names, contents, modes and times.
fn walk(path: &Path, all: &mut Vec<String>) {
    let meta = path.symlink_metadata().unwrap();
    let content = if meta.is_file() { std::fs::read(path).unwrap() } else { Vec::new() };
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    all.push(format!("{} {:o} {times:?} {content:?}", path.display(), meta.mode()));
    if meta.is_dir() {
        let mut below: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        below.sort();
        below.iter().for_each(|path| walk(path, all));
    }
}

fn repository(world: &World) -> Vec<String> {
    let mut all = Vec::new();
    ["home/shop", "home/api", "home/ui"].iter().for_each(|folder| walk(&world.path(folder), &mut all));
    all
}

#[test]
fn two_windows_see_their_conflict_before_either_commits() {
    let world = World::new();
    let Some(_agents) = stage(&world) else { return };
    let output = foresee(&world, &["--json"]).output().unwrap();
    let report: Value = serde_json::from_str(&text(&output)).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!((output.status.code(), &report["schema"]), (Some(1), &"claimtop.foresee.v1".into()));
    let pair = &report["pairs"][0];
    assert_eq!(pair["outcome"], "conflicts", "{report:#}");
    assert_eq!(pair["sides"][0]["windows"][0]["name"], "api");
    assert_eq!(pair["conflicts"][0]["path"], "src/pay.rs");
    assert_eq!(pair["conflicts"][0]["lines"][0][0], serde_json::json!({"first": 2, "count": 1}));
    assert_eq!(report["pairs"].as_array().unwrap().len(), 3, "each also against main: {report:#}");
    let shown = text(&foresee(&world, &[]).output().unwrap());
    assert!(shown.starts_with("api and ui will conflict in src/pay.rs: rebase ui onto api\n"), "{shown}");
    assert!(shown.contains("both edit the same lines (api: lines 2; ui: lines 2)"), "{shown}");
    assert!(shown.contains("These merge: api and branch main; ui and branch main"), "{shown}");
}

#[test]
fn a_repository_is_as_it_was_after_kills() {
    let world = World::new();
    let Some(_agents) = stage(&world) else { return };
    let before = repository(&world);
    let rounds = std::env::var("CLAIMTOP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    for round in 0..rounds.unwrap_or(ROUNDS) {
        let mut command = foresee(&world, &["--json"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Any moment will do.
        std::thread::sleep(Duration::from_millis(round * 37 % 300));
        let _ = child.kill();
        child.wait().unwrap();
    }
    let output = foresee(&world, &["--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let after = repository(&world);
    let changed: Vec<_> = before.iter().zip(&after).filter(|(old, new)| old != new).take(2).collect();
    assert!(changed.is_empty() && before.len() == after.len(), "{changed:?}");
}
