//! `stop`: real processes that a window has left, or seems to have left.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::Value;

use crate::world::World;

/// A process that was left by its shell, and is ended with this.
struct Left(u32);

impl Left {
    /// Starts a sleep from a shell that ends at once; `$$` is the shell, whose group it is in.
    fn by(world: &World, window: &str) -> Self {
        Self::with(world, window, "</dev/null")
    }

    /// Starts one that has another file open.
    fn with(world: &World, window: &str, opened: &str) -> Self {
        let line = format!("CLAUDE_PID={window} sleep 621 {opened} >/dev/null 2>&1 & echo $!");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line]).env_clear().env("HOME", world.path("home")).env("PATH", "/usr/bin:/bin");
        let output = shell.env("MY_TOKEN", "0xSECRETSECRET").process_group(0).output().unwrap();
        let left = Self(String::from_utf8(output.stdout).unwrap().trim().parse().unwrap());
        while std::fs::read(format!("/proc/{}/comm", left.0)).unwrap() != b"sleep\n" {}
        left
    }

    fn lives(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if self.lives() {
            Command::new("/bin/kill").args(["-9", &self.0.to_string()]).status().unwrap();
        }
    }
}

#[test]
fn what_is_in_use_or_only_looked_at_is_not_ended() {
    let world = World::new();
    let held = Left::by(&world, &std::process::id().to_string());
    let pid = held.0.to_string();
    let listed = world.run(&["leftovers"]);
    if !listed.out.contains(&pid) {
        return eprintln!("skipped: a reaper of its own takes orphans over here");
    }
    for more in [&["--yes"][..], &["--confirm", &format!("sleep {pid}")], &["--dry-run"]] {
        let refused = world.run(&[&["stop", &pid], more].concat());
        assert_eq!(refused.code, 3, "{}", refused.out);
        assert!(refused.out.contains("is alive"), "{}", refused.out);
    }
    let read_only = world.run(&["--read-only", "stop", &pid, "--yes"]);
    assert_eq!(read_only.code, 3, "{}", read_only.out);
    let nobody = world.run(&["stop", "nobody-is-called-so"]);
    assert_eq!(nobody.code, 2, "{}", nobody.out);
    assert!(held.lives());
}

#[test]
fn what_keeps_a_terminal_is_a_guess_whatever_it_is_called_and_not_ended() {
    let world = World::new();
    let [server, terminal] = ["</dev/null", "<>/dev/ptmx"].map(|opened| Left::with(&world, "$$", opened));
    let listed = world.run(&["leftovers", "--json"]);
    let report: Value = serde_json::from_str(&listed.out).unwrap();
    let one = |left: &Left| report["left_overs"].as_array().unwrap().iter().find(|one| one["pid"] == left.0);
    let (Some(server), Some(kept)) = (one(&server), one(&terminal)) else {
        return eprintln!("skipped: a reaper of its own takes orphans over here");
    };
    if !["strong", "exact"].contains(&server["certainty"].as_str().unwrap()) {
        return eprintln!("skipped: its window is not certain to be dead here");
    }
    assert_eq!(kept["certainty"], "guess", "{kept}");
    assert!(kept["why"].as_str().unwrap().contains("hosts a terminal"), "{kept}");
    let pid = terminal.0.to_string();
    for more in [&["--yes"][..], &["--confirm", &format!("sleep {pid}")]] {
        let refused = world.run(&[&["stop", &pid], more].concat());
        assert_eq!(refused.code, 3, "{}", refused.out);
    }
    assert!(terminal.lives());
}

#[test]
fn a_left_over_is_ended_by_its_full_name_and_never_by_yes() {
    let world = World::new();
    let dead = Left::by(&world, "$$");
    let pid = dead.0.to_string();
    let told = || {
        let report: Value = serde_json::from_str(&world.run(&["leftovers", "--json"]).out).unwrap();
        report["left_overs"].as_array().unwrap().iter().find(|one| one["pid"] == dead.0).cloned()
    };
    let is_sure = |one: &Value| one["certainty"] == "strong" || one["certainty"] == "exact";
    let Some(one) = told().filter(is_sure) else {
        return eprintln!("skipped: its window is not certain to be dead here");
    };
    if let Some(why) = one["refused"].as_str() {
        // It has just begun.
        let refused = world.run(&["stop", &pid, "--confirm", &format!("sleep {pid}")]);
        assert_eq!(
            (refused.code, refused.out.contains(why), dead.lives()),
            (3, true, true),
            "{}",
            refused.out
        );
        return;
    }
    let shown = world.run(&["stop", &pid, "--dry-run"]);
    assert!(
        shown.out.contains("this cannot be undone") && shown.out.contains(&format!("PID {pid}")),
        "{}",
        shown.out
    );
    for more in [&[][..], &["--yes"], &["--confirm", "sleep"], &["--confirm", &pid]] {
        assert_eq!(world.run(&[&["stop", &pid], more].concat()).code, 3, "{more:?}");
        assert!(dead.lives(), "{more:?}");
    }
    let name = format!("sleep {pid}");
    let mut done = world.run(&["stop", &pid, "--confirm", &name, "--json"]);
    // Another test's agents make every certainty lower while they begin and end.
    while done.code == 3 && told().is_some() {
        done = world.run(&["stop", &pid, "--confirm", &name, "--json"]);
    }
    assert_eq!(done.code, 0, "{}", done.out);
    let answer: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (&answer["receipts"][0]["ended"], &answer["plans"][0]["tree"][0]["pid"]),
        (&"done".into(), &dead.0.into())
    );
    assert!(!dead.lives());
    let journal = world.run(&["journal", "--json"]);
    assert!(journal.out.contains("MY_TOKEN") && !journal.out.contains("SECRET"), "{}", journal.out);
    let undo = world.run(&["undo", "1"]);
    assert_eq!(undo.code, 3);
    assert!(undo.out.contains("ended processes do not come back"), "{}", undo.out);
}
