//! The reports to guarded windows about others that have no guard, while a claimtop is open.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::windows::guard::{Window, git, repository_at};
use crate::windows::lost::shell;
use crate::world::World;

const ID: &str = "68e42426-d304-4174-9fca-9ed786d1582e";

/// A claimtop that stays open.
struct Open(Child);

impl Open {
    fn over(world: &World, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        command.arg("--home").arg(world.path("home")).arg("--tmp").arg(world.path("tmp")).args(more);
        command.args(["events", "--json"]).env_clear().env("HOME", world.path("home"));
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes the files of a window's agent: its entry and its transcript with one edit.
fn tell_of(world: &World, window: &Window, file: &Path) {
    let call = json!({ "name": "Edit", "input": { "file_path": file } });
    tell_of_calls(world, window, &[(call, json!({ "filePath": file, "structuredPatch": [] }))]);
}

/// Writes the files of a window's agent: its entry and its transcript with new files.
pub(crate) fn tell_of_new(world: &World, window: &Window, files: &[(&Path, &str)]) {
    let written = |(path, text): &(&Path, &str)| {
        let call = json!({ "name": "Write", "input": { "file_path": path, "content": text } });
        let result = json!({ "type": "create", "filePath": path, "content": text, "structuredPatch": [],
            "originalFile": null });
        (call, result)
    };
    tell_of_calls(world, window, &files.iter().map(written).collect::<Vec<_>>());
}

/// Writes the files of a window's agent: its entry, and its transcript with these calls and their results.
fn tell_of_calls(world: &World, window: &Window, calls: &[(Value, Value)]) {
    let pid = window.child.id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let ticks = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let entry = json!({ "pid": pid, "sessionId": window.session, "cwd": window.folder, "startedAt": now, "procStart": ticks,
        "version": "2.1.330", "kind": "interactive", "updatedAt": now, "statusUpdatedAt": now, "status": "busy" });
    world.write(&format!("home/.claude/sessions/{pid}.json"), &entry.to_string());
    let at = jiff::Timestamp::now();
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": "go on" },
        "origin": { "kind": "human" }, "timestamp": at });
    let mut lines = prompt.to_string();
    for (number, (call, result)) in calls.iter().enumerate() {
        let id = format!("t{number}");
        let mut call = call.clone();
        (call["type"], call["id"]) = ("tool_use".into(), id.as_str().into());
        let call =
            json!({ "type": "assistant", "message": { "model": "m", "content": [call] }, "timestamp": at });
        let result = json!({ "type": "user", "toolUseResult": result, "timestamp": at,
            "message": { "content": [{ "type": "tool_result", "tool_use_id": id }] } });
        lines.push_str(&format!("\n{call}\n{result}"));
    }
    let folder: String = window.folder.to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    world.write(&format!("home/.claude/projects/{folder}/{}.jsonl", window.session), &(lines + "\n"));
}

/// Asks until something is reported, for 20 s.
fn prompted(world: &World, window: &mut Window) -> Option<String> {
    (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        window.prompt(world)
    })
}

#[test]
fn an_open_claimtop_tells_guards_of_windows_without_one() {
    let world = World::new();
    let repo = repository_at(&world.path("home/shop"));
    // Git's log of HEAD has seconds: an edit within a commit's second may be before it.
    std::thread::sleep(Duration::from_millis(1_100));
    let unguarded = Window::open(&world, ID, &repo);
    let mut guarded = Window::open(&world, "guarded", &repo);
    std::fs::write(repo.join("src/pay.rs"), "two\n").unwrap();
    tell_of(&world, &unguarded, &repo.join("src/pay.rs"));
    assert_eq!(guarded.prompt(&world), None, "nobody has told it");
    let claimtop = Open::over(&world, &["--read-only"]);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(guarded.prompt(&world), None, "who may only read tells nobody");
    drop(claimtop);
    // Where no guard has ever written, no window would read it.
    assert!(!world.path("home/.local/state/claimtop/guard/trees").exists());
    assert_eq!(guarded.write(&world, &repo.join("src/cart.rs"), "three\n"), None);

    let claimtop = Open::over(&world, &[]);
    let brief = prompted(&world, &mut guarded).unwrap();
    assert!(
        brief.contains("src/pay.rs") && brief.contains(&format!("PID {}", unguarded.child.id())),
        "{brief}"
    );
    drop(claimtop);
    // The edits that it has seen stay true after it is closed, as long as no commit contains them.
    let note = guarded.write(&world, &repo.join("src/pay.rs"), "four\n").unwrap();
    assert!(note.contains("src/pay.rs"), "{note}");
    let reason = guarded.line(&world, "git stash").unwrap();
    assert!(reason.contains("src/pay.rs"), "{reason}");
    git(&repo, &["commit", "-qam", "second"]);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(guarded.line(&world, "git stash -u"), None, "it is committed");
}

/// A file that LEO has given to one live window is kept from others for as long as that is seen.
#[test]
fn a_work_items_tree_is_kept_for_whoever_claimed_it() {
    let world = World::new();
    let repo = repository_at(&world.path("home/shop"));
    git(&repo, &["worktree", "add", "-q", "-b", "x", ".worktrees/SD-DEMO-001"]);
    let tree = repo.join(".worktrees/SD-DEMO-001");
    world.write("home/.config/claimtop/config.toml", "[guard]\nheld = \"deny\"\n");
    let owner = Window::open(&world, ID, &tree);
    tell_of(&world, &owner, &tree.join("src/pay.rs"));
    let mut other = Window::open(&world, "other", &tree);
    let file = tree.join("src/cart.rs");
    assert_eq!(other.write(&world, &file, "two\n"), None, "nobody has told it");
    let lock = json!({ "pid": 4_000_000, "sessionId": ID, "timestamp": jiff::Timestamp::now() }).to_string();
    let lock = world.write("home/shop/.worktrees/SD-DEMO-001.lock", &lock);
    let claimtop = Open::over(&world, &[]);
    let mut asked = |is_denied: bool| {
        let said = (0..400).find_map(|_| {
            std::thread::sleep(Duration::from_millis(100));
            let said = other.refused(&world, &file);
            (said.is_some() == is_denied).then_some(said)
        });
        said.unwrap()
    };
    let reason = asked(true).unwrap();
    assert!(
        reason.contains(&format!("PID {}", owner.child.id())) && reason.contains("SD-DEMO-001"),
        "{reason}"
    );
    // It releases the file.
    std::fs::remove_file(lock).unwrap();
    asked(false);
    drop(claimtop);
}

/// A line that reaches into another working tree than its window's: the hook around it knows.
#[test]
fn the_finding_names_the_window_whose_hook_has_found_it() {
    let world = World::new();
    world.write("home/.config/claimtop/config.toml", "[guard]\ngit = 'off'\n");
    let [shop, till] = ["shop", "till"].map(|name| repository_at(&world.path(&format!("home/{name}"))));
    let mut pay = Window::open(&world, ID, &shop);
    let mut cart = Window::open(&world, "78e42426-d304-4174-9fca-9ed786d1582e", &till);
    let new = shop.join("src/new.rs");
    assert_eq!(pay.write(&world, &new, "alpha bravo charlie\n"), None);
    tell_of_new(&world, &pay, &[(&new, "alpha bravo charlie\n")]);
    tell_of_new(&world, &cart, &[]);
    let session = cart.session.clone();
    let note = shell(&world, &mut cart, &till, (&session, "rm ../shop/src/new.rs"));
    assert!(note.contains("src/new.rs"), "{note}");
    let found = loop {
        let report: Value = serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap();
        let findings = report["findings"].as_array().unwrap().clone();
        if let Some(found) = findings.into_iter().find(|one| one["code"] == "lost-edits") {
            break found;
        }
    };
    let message = found["message"].as_str().unwrap();
    assert!(
        message.ends_with(&format!("(PID {}) ran `rm ../shop/src/new.rs` then", cart.child.id())),
        "{message}"
    );
}
