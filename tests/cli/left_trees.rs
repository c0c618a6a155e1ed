//! Working trees that windows have left, as real git made them.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::world::World;

#[track_caller]
fn git(world: &World, folder: &str, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.env("HOME", world.path("home")).current_dir(world.path(folder));
    let output =
        command.args(["-c", "user.name=dev", "-c", "user.email=dev@x"]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn read(world: &World, name: &str) -> String {
    std::fs::read_to_string(world.path(name)).unwrap()
}

#[test]
fn a_tree_that_a_dead_window_locked_is_told_with_what_it_would_lose() {
    if Command::new("git").arg("--version").output().is_err() {
        return eprintln!("skipped: git was not found");
    }
    let world = World::new();
    world.write("shop/a.txt", "a\n");
    world.write("shop/.gitignore", "*.env\n");
    git(&world, "shop", &["init", "-q", "-b", "main"]);
    git(&world, "shop", &["add", "-A"]);
    git(&world, "shop", &["commit", "-q", "-m", "a"]);
    git(&world, "shop", &["worktree", "add", "-q", "-b", "worktree-fix", ".claude/worktrees/fix"]);
    let own = "shop/.git/worktrees/fix";
    world.write(&format!("{own}/CLAUDE_BASE"), &read(&world, "shop/.git/refs/heads/main"));
    world.write(&format!("{own}/locked"), "claude session fix (pid 4194304 start 77)\n");
    world.write("shop/.claude/worktrees/fix/x.env", "TOKEN=1\n");
    let root = world.path("shop").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let run =
        |arguments: &[&str]| world.run_with(&[&["--root", &root], arguments].concat(), &[("PATH", &path)]);
    let told = |arguments: &[&str]| {
        let answer = run(arguments);
        let report: Value = serde_json::from_str(&answer.out).unwrap_or_else(|_| panic!("{answer:?}"));
        report["left_trees"][0].clone()
    };
    let tree = told(&["leftovers", "--json"]);
    assert_eq!(tree["branch"], "worktree-fix", "{tree}");
    assert_eq!((&tree["window_pid"], &tree["window_name"]), (&4_194_304.into(), &"fix".into()));
    assert_eq!((&tree["has_no_commit"], &tree["merged_into"]), (&true.into(), &"main".into()));
    assert!(tree.get("git").is_none(), "git is asked only when somebody wants it");
    let tree = told(&["leftovers", "--trees", "--json"]);
    assert_eq!(tree["git"]["ignored"]["first"], serde_json::json!(["x.env"]), "{tree}");
    assert_eq!((&tree["git"]["is_changed"], &tree["remove"]), (&false.into(), &Value::Null));
    let (key, lock) = (tree["key"].as_str().unwrap(), world.path(&format!("{own}/locked")));
    let page = run(&["explain", key]).out;
    assert!(page.contains("Branch          worktree-fix") && page.contains("its lock was left"), "{page}");
    if tree["certainty"] == "exact" {
        let mut unlocked = run(&["release", key, "--yes"]);
        // A file written just now may be in use.
        while unlocked.code == 3 && unlocked.out.contains("s ago: wait") {
            std::thread::sleep(Duration::from_millis(100));
            unlocked = run(&["release", key, "--yes"]);
        }
        assert_eq!((unlocked.code, lock.exists()), (0, false), "{}", unlocked.out);
        assert_eq!((run(&["undo", "1", "--yes"]).code, lock.exists()), (0, true));
    }
    let text = run(&["leftovers", "--trees"]).out;
    assert!(text.contains("deletes without warning (x.env)") && !text.contains("TOKEN"), "{text}");
    // A commit that was taken back may be wanted.
    git(&world, "shop/.claude/worktrees/fix", &["commit", "-q", "--allow-empty", "-m", "b"]);
    git(&world, "shop/.claude/worktrees/fix", &["reset", "-q", "--hard", "HEAD~"]);
    let tree = told(&["leftovers", "--json"]);
    assert_eq!((&tree["has_no_commit"], &tree["merged_into"]), (&false.into(), &"main".into()));
    std::fs::remove_dir_all(world.path("shop/.claude/worktrees/fix")).unwrap();
    assert_eq!(told(&["leftovers", "--json"])["is_gone"], false, "an empty folder can be a mount point");
    world.write("shop/.claude/worktrees/other", "");
    assert_eq!(told(&["leftovers", "--json"])["is_gone"], true);
}

#[test]
fn folders_that_grow_are_counted_only_when_asked() {
    let world = World::new();
    for name in ["95fe798d-3725-4649-974a-0dec79220193", "048d840c-ce95-46c1-9e3a-791d9f7aeaad"] {
        world.write(&format!("home/.claude/projects/-shop/{name}.jsonl"), "{}\n");
    }
    world.write("home/.claude/debug/a.txt", "log\n");
    world.write("home/.claude/backups/a.json", "{}");
    let of_user = format!("claude-{}", rustix::process::geteuid().as_raw());
    world.write(&format!("tmp/{of_user}/-shop/95fe798d/tasks/b1.output"), "done\n");
    let answer = world.run(&["leftovers", "--sizes", "--json"]);
    let report: Value = serde_json::from_str(&answer.out).unwrap();
    let sizes = report["sizes"].as_array().unwrap();
    let of = |name: &str| sizes.iter().find(|one| one["path"].as_str().unwrap().ends_with(name)).unwrap();
    assert_eq!(
        (&of("/projects")["sessions"]["count"], &of("/debug")["files"]["count"]),
        (&2.into(), &1.into())
    );
    assert_eq!(of("/projects")["old_sessions"]["count"], 0);
    // Files outside the agent's own folder count as well.
    assert_eq!((&of(&of_user)["files"]["count"], &of("/backups")["files"]["count"]), (&1.into(), &1.into()));
    let text = world.run(&["leftovers", "--sizes"]).out;
    assert!(text.contains("could not be resumed") && text.contains("claimtop parks none of these"), "{text}");
    assert_eq!(world.run(&["leftovers", "--sizes", "--trees"]).code, 2);
}

/// A stash entry of a dead window, named by the command that gives it back.
#[test]
fn a_stash_entry_with_a_dead_windows_edit_is_listed_with_its_command() {
    if Command::new("git").arg("--version").output().is_err() {
        return eprintln!("skipped: git was not found");
    }
    let session = "aaaaaaaa-0000-4000-8000-000000000901";
    let world = World::new();
    world.write("my shop/pay.rs", "one\n");
    git(&world, "my shop", &["init", "-q", "-b", "main"]);
    git(&world, "my shop", &["add", "-A"]);
    let hour = jiff::SignedDuration::from_hours(1);
    let (edited_at, long_ago) = (jiff::Timestamp::now() - hour, jiff::Timestamp::now() - hour * 2);
    let mut commit = Command::new("git");
    commit.env("HOME", world.path("home")).env("GIT_COMMITTER_DATE", long_ago.to_string());
    let identity = ["-c", "user.name=dev", "-c", "user.email=dev@x"];
    commit.args(identity).args(["commit", "-q", "-m", "a"]).current_dir(world.path("my shop"));
    assert!(commit.status().unwrap().success());
    let repo = world.path("my shop").canonicalize().unwrap();
    let file = repo.join("pay.rs");
    let edit = serde_json::json!({
        "type": "user", "sessionId": session, "timestamp": edited_at.to_string(),
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t0"}]},
        "toolUseResult": {
            "type": "update", "filePath": file, "content": "two\n", "originalFile": "one\n", "structuredPatch": []
        },
    });
    let folder: String =
        repo.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    world.write(&format!("home/.claude/projects/{folder}/{session}.jsonl"), &format!("{edit}\n"));
    let entry = serde_json::json!({
        "pid": 4_194_301, "sessionId": session, "cwd": repo, "startedAt": 1_796_000_000_000_i64, "name": "pay"
    });
    world.write("home/.claude/sessions/4194301.json", &entry.to_string());
    world.write("my shop/pay.rs", "two\n");
    git(&world, "my shop", &["stash", "-q"]);
    let root = repo.to_str().unwrap();
    let answer = world.run(&["--root", root, "leftovers", "--json"]);
    let report: Value = serde_json::from_str(&answer.out).unwrap_or_else(|_| panic!("{answer:?}"));
    let stash = &report["left_stashes"][0];
    let commit = read(&world, "my shop/.git/refs/stash");
    assert_eq!(stash["commit"], commit.trim(), "{report}");
    assert_eq!((&stash["window_name"], &stash["files"]), (&"pay".into(), &1.into()));
    let apply = format!("git -C '{root}' stash apply {}", commit.trim());
    let list = world.run(&["--root", root, "leftovers"]).out;
    assert!(list.contains(&apply), "{list}");
    let page = world.run(&["--root", root, "explain", stash["key"].as_str().unwrap()]).out;
    assert!(page.contains(&apply) && page.contains("Left by         pay"), "{page}");
    let applied = Command::new("sh").args(["-c", &apply]).env("HOME", world.path("home")).output().unwrap();
    assert!(applied.status.success(), "{applied:?}");
    assert_eq!(read(&world, "my shop/pay.rs"), "two\n");
}
