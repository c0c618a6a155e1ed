//! Processes that windows have left running: real ones with the variables of a window.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::Value;

use crate::world::World;

/// A process that was left by its shell, and is ended with this.
struct Left(u32);

impl Left {
    /// Starts a sleep from a shell that ends at once; `$$` is the shell, whose group it is in.
    fn by(world: &World, window: &str) -> Self {
        let line = format!("CLAUDE_PID={window} sleep 600 </dev/null >/dev/null 2>&1 & echo $!");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line]).env_clear().env("HOME", world.path("home")).env("PATH", "/usr/bin:/bin");
        shell.env("CLAUDE_CODE_MESSAGING_TOKEN", "0xSECRETSECRET").process_group(0);
        let output = shell.output().unwrap();
        let left = Self(String::from_utf8(output.stdout).unwrap().trim().parse().unwrap());
        // It is a copy of the shell at first.
        while std::fs::read(format!("/proc/{}/comm", left.0)).unwrap() != b"sleep\n" {}
        left
    }

    /// Returns whether it has no parent: a reaper of another sort would have adopted it.
    fn is_orphan(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(1) == Some("1")
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        Command::new("/bin/kill").args(["-9", &self.0.to_string()]).status().unwrap();
    }
}

#[test]
fn a_process_without_its_window_is_listed_and_one_whose_window_lives_is_held() {
    let world = World::new();
    let (dead, held) = (Left::by(&world, "$$"), Left::by(&world, &std::process::id().to_string()));
    if !dead.is_orphan() {
        eprintln!("skipped: a reaper of its own takes orphans over here");
        return;
    }
    let answer = world.run(&["leftovers", "--json"]);
    assert!(!answer.out.contains("SECRET"), "{}", answer.out);
    let report: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(report["schema"], "claimtop.leftovers.v1");
    let of = |left: &Left| report["left_overs"].as_array().unwrap().iter().find(|one| one["pid"] == left.0);
    let (dead, held) = (of(&dead).unwrap(), of(&held).unwrap());
    assert_eq!((&dead["command"], &dead["agent"]), (&"sleep 600".into(), &"claude-code".into()));
    // If an unknown agent runs beside it, the certainty is unknown.
    assert!(matches!(dead["certainty"].as_str(), Some("strong" | "unknown")), "{dead}");
    assert_eq!(held["certainty"], "held", "{held}");
    let member = &held["tree"][0];
    assert!(member["memory"].as_u64().is_some_and(|bytes| bytes > 0), "{member}");
    assert!(member["cpu_time"].is_u64(), "{member}");
    for command in [&["leftovers"][..], &["ls", "leftovers"]] {
        let text = world.run(command);
        assert!(text.out.contains("sleep 600") && text.out.contains("WHY"), "{}", text.out);
    }
    for name in [held["key"].as_str().unwrap().to_owned(), held["pid"].to_string()] {
        let page = world.run(&["explain", &name]);
        assert!(page.out.contains("left-over sleep 600") && page.out.contains("is alive"), "{}", page.out);
        let page: Value = serde_json::from_str(&world.run(&["explain", &name, "--json"]).out).unwrap();
        assert_eq!(page["left_over"]["pid"], held["pid"]);
    }
    let elsewhere = World::new().run(&["leftovers"]);
    assert_eq!(elsewhere.out, "No window has left anything running.\n", "another home's are not told");
}

#[test]
fn a_server_is_called_as_its_agents_configuration_calls_it() {
    let world = World::new();
    let text = r#"{"mcpServers":{"naps":{"command":"sleep","args":["600"],"env":{"KEY":"s3cretvalue"}}}}"#;
    world.write("home/.claude.json", text);
    let left = Left::by(&world, &std::process::id().to_string());
    if !left.is_orphan() {
        eprintln!("skipped: a reaper of its own takes orphans over here");
        return;
    }
    let answer = world.run(&["leftovers", "--json"]);
    assert!(!answer.out.contains("s3cret"), "{}", answer.out);
    let report: Value = serde_json::from_str(&answer.out).unwrap();
    let one = report["left_overs"].as_array().unwrap().iter().find(|one| one["pid"] == left.0).unwrap();
    assert_eq!((&one["name"], &one["sort"]), (&"naps".into(), &"mcp-server".into()), "{one}");
}
