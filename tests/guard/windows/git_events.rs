//! What git itself reports of its commands: an open claimtop keeps who ran what, and git never waits for it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::windows::guard::Window;
use crate::windows::lost::{edited, repository};
use crate::world::World;

/// A claimtop that stays open.
struct Open(Child);

impl Open {
    fn over(world: &World) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        command.arg("--home").arg(world.path("home")).arg("--tmp").arg(world.path("tmp"));
        command.args(["events", "--json"]).env_clear().env("HOME", world.path("home"));
        Self(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Opens one, and waits until it has taken in what git has written so far: then it listens.
    fn listening(world: &World, repo: &Path) -> Self {
        git(world, repo, "git branch --no-list");
        let open = Self::over(world);
        until(|| waiting(world).is_empty());
        open
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for what another process does.
#[track_caller]
fn until(mut is_so: impl FnMut() -> bool) {
    assert!((0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        is_so()
    }));
}

fn state(world: &World) -> PathBuf {
    world.path("home/.local/state/claimtop")
}

fn folder(world: &World) -> PathBuf {
    state(world).join("git-events")
}

/// Returns the names of git's files that nobody has taken in.
fn waiting(world: &World) -> Vec<String> {
    let entries = fs::read_dir(folder(world)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the commands that an open claimtop has kept.
fn kept(world: &World) -> Vec<Value> {
    let text = fs::read_to_string(state(world).join("git-commands.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn words(command: &Value) -> String {
    let words = command["words"].as_array().unwrap().iter();
    words.map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// Runs a line in the repository with git's configuration of the world; a git that waits for anything is ended.
fn git(world: &World, repo: &Path, line: &str) -> Output {
    let mut command = Command::new("timeout");
    command.args(["60", "sh", "-c", line]).current_dir(repo).env_clear().env("HOME", world.path("home"));
    command.env("PATH", "/usr/bin:/bin:/usr/local/bin").stdin(Stdio::null()).output().unwrap()
}

/// Does what claimtop prints.
fn set_up(world: &World, more: &[&str]) {
    let printed = world.run(&[&["git-events"], more].concat());
    assert_eq!(printed.code, 0, "{printed:?}");
    let done = git(world, &world.path("home"), &printed.out);
    assert!(done.status.success(), "{done:?}");
}

/// Runs a git command until one was seen before it had ended, and returns what is kept of that: on a busy machine some
/// are over too soon.
#[track_caller]
fn seen(world: &World, line: &str, mut run: impl FnMut()) -> Value {
    let known = || kept(world).into_iter().filter(|command| words(command) == line).collect::<Vec<_>>();
    for _ in 0..50 {
        let before = known().len();
        run();
        until(|| known().len() > before && waiting(world).is_empty());
        if let Some(command) = known().pop().filter(|command| command.get("caller").is_some()) {
            return command;
        }
    }
    panic!("never seen: {line}");
}

#[test]
fn make_of_a_window_and_a_git_outside_are_named_to_their_victim() {
    let world = World::new();
    let repo = repository(&world);
    set_up(&world, &[]);
    let [mut pay, mut cart] = edited(&world, &repo);
    let open = Open::listening(&world, &repo);
    // No hook sees what make does.
    let make = format!("#run cd {} && make -s reset", repo.display());
    let stash = seen(&world, "git stash -q", || {
        pay.write(&world, &repo.join("src/pay.rs"), "one\nanother\npapa counts quebec\n");
        cart.ask(&world, &make);
    });
    assert_eq!(stash["caller"]["window"]["pid"], cart.child.id(), "{stash}");
    assert_eq!((&stash["above"][0], &stash["exit"]), (&"make".into(), &0.into()), "{stash}");
    let heard = pay.prompt(&world).unwrap();
    let (git_pid, pid) = (&stash["pid"], cart.child.id());
    let told = format!(
        "gone: the `git stash` (PID {git_pid}) of the window `shop` (claude-code, PID {pid}, alive), as git's own events say, undid them"
    );
    assert!(heard.contains(&told) && heard.contains("git stash apply"), "{heard}");

    // It runs once it is nobody's child any more.
    let line = "sh -c 'while kill -0 $0 2> /dev/null; do :; done; git checkout -q -- src/pay.rs' $$ &";
    let checkout = seen(&world, "git checkout -q -- src/pay.rs", || {
        pay.write(&world, &repo.join("src/pay.rs"), "one\nanother\nquebec sees romeo\n");
        git(&world, &repo, line);
    });
    assert_eq!(checkout["reach"]["paths"][0], "src/pay.rs", "{checkout}");
    let heard = pay.prompt(&world).unwrap();
    let told =
        format!("the `git checkout` (PID {}) outside all windows, as git's own events say", checkout["pid"]);
    assert!(heard.contains(&told) && heard.contains("claimtop rescue src/pay.rs"), "{heard}");
    drop(open);
}

#[test]
fn a_window_is_not_blamed_for_what_a_git_outside_did_meanwhile_and_hears_of_its_own() {
    let world = World::new();
    let repo = repository(&world);
    set_up(&world, &[]);
    let [mut pay, mut cart] = edited(&world, &repo);
    let _open = Open::listening(&world, &repo);
    let hook = |event: &str, line: &str| {
        serde_json::json!({"session_id": "cart", "cwd": repo, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": line}, "tool_use_id": "toolu_line"})
        .to_string()
    };
    let around = |window: &mut Window, line: &str, does: &mut dyn FnMut(&mut Window)| {
        assert_eq!(window.ask(&world, &hook("PreToolUse", line)), "", "{line}");
        does(window);
        until(|| waiting(&world).is_empty());
        window.ask(&world, &hook("PostToolUse", line))
    };
    let of_pay = format!("#run cd {} && git checkout -q -- docs/a.md", repo.display());
    // The victim does it itself while the other one's line runs.
    let said = around(&mut cart, "cargo test", &mut |_| {
        seen(&world, "git checkout -q -- docs/a.md", || {
            fs::write(repo.join("docs/a.md"), "one\nanother\nsierra\n").unwrap();
            pay.ask(&world, &of_pay);
        });
    });
    assert_eq!(said, "", "it was not this window");
    let line = "bash scripts/reset.sh";
    let run = format!("#run cd {} && {line}", repo.display());
    let said = around(&mut cart, line, &mut |cart| {
        cart.ask(&world, &run);
    });
    assert!(
        said.contains("this call undid uncommitted edits") && said.contains("by the `git checkout` (PID "),
        "{said}"
    );
    let heard = pay.prompt(&world).unwrap();
    assert!(
        heard.contains("`src/pay.rs`") && heard.contains("undone by the `git checkout` (PID "),
        "{heard}"
    );
    assert!(!heard.contains("docs/a.md"), "its own doing is its own affair: {heard}");
}

#[test]
fn git_never_waits_for_a_claimtop_that_is_stopped_or_killed() {
    let world = World::new();
    let repo = repository(&world);
    set_up(&world, &[]);
    let check = |rounds: usize| {
        for _ in 0..rounds {
            let done = git(
                &world,
                &repo,
                "echo two > notes.md; git reset --hard; git stash list; git status --short",
            );
            let said = String::from_utf8_lossy(&done.stdout).into_owned();
            assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
            assert!(said.starts_with("HEAD is now at ") && said.lines().count() == 1, "{said}");
        }
    };
    let open = Open::listening(&world, &repo);
    open.signal(Signal::STOP);
    check(40);
    assert!(waiting(&world).len() >= 40, "nobody takes them in");
    open.signal(Signal::CONT);
    until(|| waiting(&world).is_empty());
    drop(open);
    check(40);
    // More than fit are dropped, and git goes on as before.
    git(&world, &repo, "git config --global trace2.maxFiles 60");
    check(40);
    let left = waiting(&world);
    assert!(left.len() < 160 && left.iter().any(|name| name == "git-trace2-discard"), "{}", left.len());
    let before = kept(&world).len();
    let open = Open::over(&world);
    until(|| waiting(&world).is_empty());
    assert!(kept(&world).len() >= before + 40, "what was written is known later");
    seen(&world, "git reset --hard", || check(1));
    drop(open);
}

#[test]
fn without_the_folder_nothing_is_left_and_removal_leaves_nothing() {
    let world = World::new();
    let repo = repository(&world);
    let printed = world.run(&["git-events"]);
    assert!(printed.code == 0 && printed.out.contains("trace2.eventTarget"), "{printed:?}");
    let _window = Window::open(&world, "pay", &repo);
    let mut open = Open::over(&world);
    // It has begun to listen, if it does, before it says what is there.
    let mut line = String::new();
    BufReader::new(open.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("window"), "{line}");
    git(&world, &repo, "echo two > notes.md; git reset -q --hard");
    drop(open);
    assert!(!folder(&world).exists() && !state(&world).join("git-commands.jsonl").exists());
    let configured = fs::read_to_string(world.path("home/.gitconfig")).unwrap();
    assert!(!configured.contains("trace2"), "{configured}");

    set_up(&world, &[]);
    assert_eq!(folder(&world).metadata().unwrap().permissions().mode() & 0o777, 0o700);
    set_up(&world, &["--remove"]);
    let after = git(&world, &repo, "git config --global --get-regexp trace2; git reset -q --hard");
    assert!(after.stdout.is_empty() && after.stderr.is_empty() && !folder(&world).exists(), "{after:?}");
}

#[test]
fn what_git_would_not_write_is_passed_over() {
    let world = World::new();
    let repo = repository(&world);
    set_up(&world, &[]);
    git(&world, &repo, "git branch --no-list");
    let own = waiting(&world).remove(0);
    let named = |pid: &str| format!("{}-P{pid}", own.rsplit_once("-P").unwrap().0);
    let write = |name: &str, text: &str| fs::write(folder(&world).join(name), text).unwrap();
    write(&named("7ffffff0"), "{\"event\":\"start\",\"sid\":7}\nnonsense\n\u{0}\n");
    write(&named("7ffffff1"), &"{\"event\":".repeat(200_000));
    let other = own.replace(own.split("-H").nth(1).unwrap().split('-').next().unwrap(), "00000000");
    write(&other, &fs::read_to_string(folder(&world).join(&own)).unwrap());
    write("a note", "of a person\n");
    symlink(world.path("home/.gitconfig"), folder(&world).join(named("7ffffff2"))).unwrap();
    let secret = "git commit --allow-empty -qm x --author 'x <x@x>' --trailer token=ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    git(&world, &repo, secret);
    let open = Open::over(&world);
    until(|| !kept(&world).is_empty() && !waiting(&world).contains(&named("7ffffff1")));
    git(&world, &repo, "git reset -q --hard");
    until(|| kept(&world).iter().any(|command| words(command) == "git reset -q --hard"));
    let mut left = waiting(&world);
    left.sort();
    let mut expected = vec![other, "a note".to_owned(), named("7ffffff2")];
    expected.sort();
    assert_eq!(left, expected, "what is not git's own here stays");
    let text = fs::read_to_string(state(&world).join("git-commands.jsonl")).unwrap();
    assert!(text.contains("allow-empty") && !text.contains("0123456789abcdef"), "{text}");
    drop(open);
}
