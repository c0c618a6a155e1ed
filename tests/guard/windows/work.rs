//! The work of a window, from a real process, its registry entry and its session file.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::program;
use crate::windows::bind::told;
use crate::world::World;

const ID: &str = "68e42426-d304-4174-9fca-9ed786d1582e";

/// A process under Claude Code's name with its entry in the registry, until it is dropped.
pub(super) struct Window<'a> {
    pub(super) process: Child,
    world: &'a World,
}

impl<'a> Window<'a> {
    pub(super) fn start(world: &'a World) -> Self {
        let program = world.path("node_modules/@anthropic-ai/claude-code/bin/claude");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        program::copy("/bin/sh", &program);
        let mut command = Command::new(program);
        command.args(["-c", "read line; exit 0"]).env_clear().stdin(Stdio::piped()).stdout(Stdio::null());
        Self { process: program::spawn(&mut command), world }
    }

    pub(super) fn registers(&self, status: &Value) {
        let pid = self.process.id();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let ticks = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let now = u64::try_from(now).unwrap();
        let mut entry = json!({ "pid": pid, "sessionId": ID, "cwd": "/src/shop", "startedAt": now, "procStart": ticks,
            "version": "2.1.330", "kind": "interactive", "name": "shop", "updatedAt": now, "statusUpdatedAt": now });
        let entry = entry.as_object_mut().unwrap();
        entry.extend(status.as_object().unwrap().clone());
        self.world.write(&format!("home/.claude/sessions/{pid}.json"), &json!(entry).to_string());
    }

    /// Waits until claimtop reports this about it.
    #[track_caller]
    pub(super) fn check(&self, arguments: &[&str], expected: impl Fn(&Value) -> bool) {
        let mut found = Value::Null;
        for _ in 0..100 {
            let report: Value = serde_json::from_str(&self.world.run(arguments).out).unwrap();
            let windows = report["windows"].as_array().unwrap();
            let own = windows.iter().find(|window| window["pid"] == self.process.id());
            found = own.cloned().unwrap_or_default();
            if expected(&found) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{found:#}");
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn transcript() -> String {
    // What was written before the window began would not be its own.
    let now = jiff::Timestamp::now().to_string();
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": "Fix the till" },
        "origin": { "kind": "human" }, "permissionMode": "default", "timestamp": now });
    let edited = json!({ "type": "file-history-snapshot", "snapshot": { "trackedFileBackups":
        { "a.rs": { "backupTime": now, "realParentDir": "/src/shop" } } } });
    let call = json!({ "type": "assistant", "message": { "model": "m", "usage": { "input_tokens": 105 }, "content": [
        { "type": "tool_use", "id": "t1", "name": "Edit", "input": { "file_path": "/src/shop/b.rs" } }] },
        "timestamp": now });
    format!("{prompt}\n{edited}\n{call}\n")
}

#[test]
fn a_window_says_what_it_does_and_what_it_waits_for() {
    let world = World::new();
    let window = Window::start(&world);
    let path = world.write(&format!("home/.claude/projects/-src-shop/{ID}.jsonl"), &transcript());
    window.registers(&json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    window.check(&["ls", "--json"], |found| {
        let work = &found["work"];
        let edits: Vec<&Value> =
            work["edits"].as_array().into_iter().flatten().map(|edit| &edit["path"]).collect();
        work["calls"][0]["tool"] == "Edit"
            && work["calls"][0]["target"]["file"] == "/src/shop/b.rs"
            && edits == ["/src/shop/a.rs"]
            && work["context"]["tokens"] == 105
            && work.get("prompt").is_none()
    });
    assert!(!world.run(&["ls", "--json"]).out.contains("Fix the till"));
    window.check(&["ls", "--json", "--with-prompts"], |found| {
        found["work"]["prompt"]["text"] == "Fix the till"
    });
    let page = |more: &[&str]| world.run(&[&["report", "--html", "-"], more].concat()).out;
    assert!(page(&[]).contains("<svg") && !page(&[]).contains("Fix the till"));
    let redacted = page(&["--redact"]);
    assert!(redacted.contains("<svg") && !redacted.contains("Fix the till") && !redacted.contains("/shop"));
    let now = world.run(&["now"]).out;
    assert!(now.contains("shop") && now.contains("b.rs") && now.contains("asks you"), "{now}");
    assert!(!now.contains("Fix the till"), "{now}");

    let result = json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "tool_use_id": "t1" }] },
        "toolUseResult": { "filePath": "/src/shop/b.rs", "structuredPatch": [] }, "timestamp": "2026-11-22T11:00:06Z" });
    std::fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(format!("{result}\n").as_bytes())
        .unwrap();
    window.registers(&json!({ "status": "busy" }));
    window.check(&["ls", "--json"], |found| {
        let work = &found["work"];
        work["calls"].as_array().is_some_and(Vec::is_empty) && work["edits"][1]["path"] == "/src/shop/b.rs"
    });

    // A torn line waits for its end, and one that is not JSON is reported.
    let mut file = std::fs::File::options().append(true).open(&path).unwrap();
    let diagnosis = || world.run(&["doctor", "--self"]).out;
    file.write_all(b"no line of").unwrap();
    let torn = diagnosis();
    assert!(!torn.contains("session files"), "{torn}");
    file.write_all(b" JSON\n").unwrap();
    let told = diagnosis();
    assert!(told.contains("session files hold 1 line that could not be understood"), "{told}");
}

#[test]
fn why_a_transcript_is_not_read_is_told_in_every_place() {
    let world = World::new();
    let window = Window::start(&world);
    let beside = world.write("home/beside.jsonl", &transcript());
    let path = world.path(&format!("home/.claude/projects/-src-shop/{ID}.jsonl"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let fifo = Command::new("mkfifo");
    let make = |command: Command, arguments: &[&std::path::Path]| {
        let mut command = command;
        assert!(command.args(arguments).status().unwrap().success());
    };
    window.registers(&json!({ "status": "busy" }));
    make(fifo, &[&path]);
    check_unread(&window, "no-plain-file", "is not a plain file");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&beside, &path).unwrap();
    check_unread(&window, "link", "is a symbolic link, which is not followed");
    std::fs::remove_file(&path).unwrap();
    std::fs::hard_link(&beside, &path).unwrap();
    check_unread(&window, "several-names", "has several names (hard links)");
    std::fs::remove_file(&beside).unwrap();
    window.check(&["ls", "--json"], |found| {
        found["unread"].is_null() && found["work"]["context"]["tokens"] == 105
    });
    assert!(!world.run(&["doctor", "--self"]).out.contains("was not read"));

    std::fs::write(&path, transcript() + &"x".repeat(3 << 20) + "\n").unwrap();
    let page = world.run(&["explain", &window.process.id().to_string()]).out;
    assert!(page.contains("1 line: not JSON, or over 2 MiB"), "{page}");
}

#[track_caller]
fn check_unread(window: &Window<'_>, why: &str, words: &str) {
    window.check(&["ls", "--json"], |found| found["work"].is_null() && found["unread"]["why"] == why);
    window.check(&["now", "--json"], |found| found["unread"]["why"] == why);
    let file = format!("{ID}.jsonl {words}");
    let run = |arguments: &[&str]| window.world.run(arguments).out;
    let page = run(&["explain", &window.process.id().to_string()]);
    assert!(page.contains("not known: /") && page.contains(&file), "{page}");
    for told in [run(&["doctor"]), run(&["doctor", "--self"])] {
        assert!(told.contains(&format!("{file}, so it was not read")), "{told}");
    }
    assert!(run(&["now"]).contains("not known: its session file"), "{}", run(&["now"]));
}

/// Runs the status line with this on its standard input.
fn status(world: &World, input: &str) -> String {
    let (code, out, err) = told(world, &["statusline"], input.as_bytes());
    assert_eq!((code, err.as_str()), (0, ""));
    out
}

#[test]
fn the_status_line_tells_of_its_window_and_notes_the_size_of_its_context() {
    let world = World::new();
    let window = Window::start(&world);
    let text = transcript().replace("105", "90500");
    world.write(&format!("home/.claude/projects/-src-shop/{ID}.jsonl"), &text);
    window.registers(&json!({ "status": "busy" }));
    window.check(&["ls", "--json"], |found| {
        found["work"]["context"] == json!({ "tokens": 90_500, "window": null })
    });
    let asked = |size: &Value| {
        json!({ "session_id": ID, "context_window": { "context_window_size": size } }).to_string()
    };
    // A question that does not come from Claude Code, or makes no sense, changes nothing. Other tests' windows count
    // too.
    let is_general = |line: &str| line.split(" · ").next().is_some_and(|first| first.contains(" window"));
    assert!(is_general(&world.run(&["statusline"]).out));
    for odd in ["", "{", "[]", r#"{"session_id":"../x"}"#] {
        let line = status(&world, odd);
        assert!(is_general(&line), "{odd}: {line}");
    }
    for size in [json!(0), json!(-1), json!(1e30), json!("x")] {
        let line = status(&world, &asked(&size));
        assert!(line.starts_with("shop working · ") && line.contains(" window"), "{size}: {line}");
    }
    window.check(&["ls", "--json"], |found| found["work"]["context"]["window"] == Value::Null);

    let line = status(&world, &asked(&json!(1_000_000)));
    assert!(!line.contains("context"), "{line}");
    window.check(&["ls", "--json"], |found| found["work"]["context"]["window"] == 1_000_000);
    status(&world, &asked(&json!(100_000)));
    window.check(&["ls", "--json"], |found| found["work"]["context"]["window"] == 100_000);
    let line = status(&world, &asked(&json!(100_000)));
    assert!(line.starts_with("shop working · ") && line.contains(" · context 90% · "), "{line}");
    assert!(world.run(&["now"]).out.contains("90%"));

    window.registers(&json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    window.check(&["ls", "--json"], |found| found["waiting"]["wants"] == "permission");
    let line = status(&world, &asked(&json!(100_000)));
    assert!(line.starts_with("shop asks you (") && line.contains("may it edit /src/shop/b.rs?"), "{line}");
    assert!(line.contains(" · 1 asks you"), "{line}");

    let state = world.path("home/.local/state/claimtop/bindings");
    let note = state.join(format!("{ID}.context"));
    assert_eq!(std::fs::metadata(&note).unwrap().permissions().mode() & 0o777, 0o600);
    for broken in [&b"{"[..], b"", b"{\"schema\":\"claimtop.context.v1\"}"] {
        std::fs::write(&note, broken).unwrap();
        window.check(&["ls", "--json"], |found| found["work"]["context"]["window"] == Value::Null);
    }
    std::fs::remove_file(&note).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &note).unwrap();
    window.check(&["ls", "--json"], |found| found["work"]["context"]["window"] == Value::Null);
}
