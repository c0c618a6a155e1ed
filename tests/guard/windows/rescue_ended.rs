//! What windows wrote that have ended, or so long ago in their session that the look has not read it, is found in the
//! agents' own files.

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::windows::guard::git;
use crate::world::{Answer, World};

/// Each agent's session, and the file that it wrote.
const SESSIONS: [(&str, &str); 6] = [
    ("claude-code", "c1a0de00-0000-4000-8000-000000000001"),
    ("codex", "01ad0e00-0000-7000-8000-000000000002"),
    ("gemini", "9e310100-0000-4000-8000-000000000003"),
    ("qwen", "93e20000-0000-4000-8000-000000000004"),
    ("copilot", "c0b10700-0000-4000-8000-000000000005"),
    ("opencode", "ses_0pec0de00000000000000000006"),
];
const CLAUDE: (&str, &str) = SESSIONS[0];
/// How much other content follows an edit, in bytes: more than a look reads of a transcript.
const LATER: usize = 3 << 20;

fn file_of(repo: &Path, agent: &str) -> PathBuf {
    repo.join(format!("src/{agent}.rs"))
}

fn text_of(agent: &str) -> String {
    format!("words that only {agent} wrote\n")
}

fn repository(world: &World) -> PathBuf {
    let repo = world.path("shop");
    std::fs::create_dir_all(repo.join("src")).unwrap();
    std::fs::write(repo.join("src/first.rs"), "first\n").unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "first"]);
    repo.canonicalize().unwrap()
}

fn slug(folder: &Path) -> String {
    folder.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    jiff::Timestamp::from_second(i64::try_from(since.as_secs()).unwrap() - 60).unwrap().to_string()
}

/// Returns where an agent keeps the session, and the lines in which it has written its file.
fn transcript(repo: &Path, agent: &str, id: &str) -> (String, Vec<Value>) {
    let (file, text, at) = (file_of(repo, agent), text_of(agent), now());
    match agent {
        "claude-code" => {
            let result = json!({"type": "create", "filePath": file, "content": text, "structuredPatch": []});
            let message = json!({"content": [{"tool_use_id": "1", "content": "ok"}]});
            let line = json!({"timestamp": at, "sessionId": id, "cwd": repo, "message": message, "toolUseResult": result});
            (format!("home/.claude/projects/{}/{id}.jsonl", slug(repo)), vec![line])
        }
        "codex" => {
            let meta = json!({"timestamp": at, "type": "session_meta", "payload": {"id": id, "cwd": repo}});
            let mut changes = serde_json::Map::new();
            changes.insert(file.to_str().unwrap().to_owned(), json!({"type": "add", "content": text}));
            let item = json!({"type": "FileChange", "id": "1", "changes": changes, "status": "completed"});
            let line = json!({"timestamp": at, "type": "event_msg", "payload": {"type": "item_completed", "item": item}});
            (
                format!("home/.codex/sessions/2026/11/02/rollout-2026-11-02T10-00-00-{id}.jsonl"),
                vec![meta, line],
            )
        }
        "gemini" => {
            let display =
                json!({"filePath": file, "originalContent": "", "newContent": text, "isNewFile": true});
            let call = json!({"id": "1", "name": "write_file", "status": "success", "timestamp": at, "resultDisplay": display});
            let lines = vec![
                json!({"sessionId": id, "kind": "main"}),
                json!({"type": "gemini", "toolCalls": [call]}),
            ];
            (format!("home/.gemini/tmp/shop/chats/session-2026-11-02T10-00-{}.jsonl", &id[..8]), lines)
        }
        "qwen" => {
            let call = json!({"id": "1", "name": "write_file", "args": {"file_path": file, "content": text}});
            let message = json!({"parts": [{"functionCall": call}]});
            let called = json!({"timestamp": at, "cwd": repo, "sessionId": id, "message": message});
            let result = json!({"callId": "1", "status": "success"});
            let lines = vec![called, json!({"timestamp": at, "cwd": repo, "toolCallResult": result})];
            (format!("home/.qwen/projects/{}/chats/{id}.jsonl", slug(repo)), lines)
        }
        "copilot" => {
            let begun = json!({"type": "session.start", "timestamp": at, "data": {"sessionId": id, "context": {"cwd": repo}}});
            let data = json!({"toolCallId": "1", "toolName": "create", "arguments": {"path": file, "file_text": text}});
            let called = json!({"type": "tool.execution_start", "timestamp": at, "data": data});
            let ended = json!({"type": "tool.execution_complete", "timestamp": at, "data": {"toolCallId": "1", "success": true}});
            (format!("home/.copilot/session-state/{id}/events.jsonl"), vec![begun, called, ended])
        }
        _ => panic!("{agent}"),
    }
}

/// Writes the session of an agent, with much after its edit.
fn write_session(world: &World, repo: &Path, (agent, id): (&str, &str)) {
    if agent == "opencode" {
        return opencode(world, repo, id);
    }
    let (name, lines) = transcript(repo, agent, id);
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let other = json!({"timestamp": now(), "type": "other", "text": "z".repeat(1_000)}).to_string();
    while text.len() < LATER {
        text.push_str(&other);
        text.push('\n');
    }
    world.write(&name, &text);
    world.write(
        "home/.gemini/projects.json",
        &json!({"projects": {repo.to_str().unwrap(): "shop"}}).to_string(),
    );
}

fn opencode(world: &World, repo: &Path, id: &str) {
    let path = world.path("home/.local/share/opencode/opencode.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let store = rusqlite::Connection::open(path).unwrap();
    let schema = "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_updated INTEGER); \
                  CREATE TABLE part (id TEXT, session_id TEXT, data TEXT)";
    store.execute_batch(schema).unwrap();
    let at = now().parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let values = rusqlite::params![id, repo.to_str().unwrap(), "Sell things", at];
    store.execute("INSERT INTO session VALUES (?1, NULL, ?2, ?3, ?4)", values).unwrap();
    let input = json!({"filePath": file_of(repo, "opencode"), "content": text_of("opencode")});
    let state = json!({"status": "completed", "input": input, "time": {"start": at, "end": at}});
    let data = json!({"type": "tool", "tool": "write", "callID": "1", "state": state}).to_string();
    store.execute("INSERT INTO part VALUES ('1', ?1, ?2)", (id, data)).unwrap();
}

fn rescue(world: &World, repo: &Path, arguments: &[&str]) -> Answer {
    world.run(&[&["rescue", "--root", repo.to_str().unwrap()][..], arguments].concat())
}

fn listed(world: &World, repo: &Path, arguments: &[&str]) -> Vec<Value> {
    let answer = rescue(world, repo, &[&["--json"][..], arguments].concat());
    assert_eq!(answer.code, 0, "{}", answer.err);
    let told: Value = serde_json::from_str(&answer.out).unwrap();
    told["versions"].as_array().unwrap().clone()
}

#[test]
fn what_sessions_wrote_whose_windows_have_ended_is_found_by_file_by_session_and_without_a_name() {
    let world = World::new();
    let repo = repository(&world);
    SESSIONS.iter().for_each(|session| write_session(&world, &repo, *session));
    for (agent, id) in SESSIONS {
        let path = file_of(&repo, agent);
        let printed = rescue(&world, &repo, &["--print", path.to_str().unwrap()]);
        assert_eq!((printed.code, printed.out), (0, text_of(agent)), "{agent}: {}", printed.err);
        for subject in [path.to_str().unwrap(), id, &id[..12]] {
            let versions = listed(&world, &repo, &[subject]);
            assert_eq!(versions.len(), 1, "{agent} {subject}: {versions:?}");
            let one = &versions[0];
            let told = (&one["agent"], &one["state"], &one["session"]);
            let session = if agent == "gemini" { one["session"].clone() } else { id.into() };
            assert_eq!(told, (&agent.into(), &"gone".into(), &session));
            assert!(id.starts_with(session.as_str().unwrap()), "{session}");
        }
    }
    let all = listed(&world, &repo, &[]);
    assert_eq!(all.len(), SESSIONS.len(), "{all:#?}");
    let text = rescue(&world, &repo, &[]).out;
    // Other tests run windows of which it is not known what they run: whether this one has ended is told by another test.
    assert!(text.contains("Sell things"), "{text}");
    // Without a window it may have removed its file itself: only what is named comes back.
    let unnamed = rescue(&world, &repo, &["--yes"]);
    assert_eq!(unnamed.code, 3, "{}", unnamed.out);
    assert!(unnamed.err.contains("name it to bring it back"), "{}", unnamed.err);
    let named = rescue(&world, &repo, &["--yes", CLAUDE.1]);
    assert_eq!(named.code, 0, "{}{}", named.out, named.err);
    assert_eq!(std::fs::read_to_string(file_of(&repo, CLAUDE.0)).unwrap(), text_of(CLAUDE.0));
    let elsewhere = world.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    assert!(listed(&world, &elsewhere, &[]).is_empty(), "a session of another folder");
    let unknown = rescue(&world, &repo, &[repo.join("src/none.rs").to_str().unwrap()]);
    assert_eq!(unknown.code, 3, "{}", unknown.out);
}

/// Writes the registry's entry of a window that has died: a PID that no process has.
fn write_dead_window(world: &World, repo: &Path) {
    let entry =
        json!({"pid": 4_194_301, "sessionId": CLAUDE.1, "cwd": repo, "startedAt": 1_796_000_000_000_i64});
    world.write("home/.claude/sessions/4194301.json", &entry.to_string());
}

#[test]
fn an_edit_far_back_in_a_session_of_the_look_is_found() {
    let world = World::new();
    let repo = repository(&world);
    write_session(&world, &repo, CLAUDE);
    write_dead_window(&world, &repo);
    let path = file_of(&repo, CLAUDE.0);
    for arguments in [&[][..], &[path.to_str().unwrap()], &[CLAUDE.1]] {
        let versions = listed(&world, &repo, arguments);
        assert_eq!(versions.len(), 1, "{arguments:?}");
        assert_eq!(versions[0]["state"], "gone");
    }
}

/// The agent deletes a transcript 30 days after it was last written.
#[test]
fn what_an_agent_is_about_to_delete_is_copied_by_an_open_claimtop() {
    let world = World::new();
    let repo = repository(&world);
    write_session(&world, &repo, CLAUDE);
    write_dead_window(&world, &repo);
    let path = world.path(&transcript(&repo, CLAUDE.0, CLAUDE.1).0);
    let days = std::time::Duration::from_secs(29 * 24 * 3_600);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::now() - days).unwrap();
    let mut command = world.command(&["events", "--json", "--root", repo.to_str().unwrap()]);
    let mut open = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lost = file_of(&repo, CLAUDE.0);
    let found = || listed(&world, &repo, &[lost.to_str().unwrap()]);
    let is_copied = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        found().iter().any(|version| version["from"] == "kept")
    });
    open.kill().unwrap();
    open.wait().unwrap();
    assert!(is_copied, "{:?}", found());
    std::fs::remove_file(&path).unwrap();
    let versions = found();
    let told = (&versions[0]["from"], &versions[0]["sure"], &versions[0]["state"]);
    assert_eq!(told, (&"kept".into(), &"rebuilt".into(), &"gone".into()), "{versions:?}");
    let printed = rescue(&world, &repo, &["--print", lost.to_str().unwrap()]);
    assert_eq!((printed.code, printed.out), (0, text_of(CLAUDE.0)), "{}", printed.err);
}

#[test]
fn a_line_of_a_gibibyte_is_left_out_within_bounded_memory() {
    let world = World::new();
    let repo = repository(&world);
    let (name, lines) = transcript(&repo, CLAUDE.0, CLAUDE.1);
    let path = world.write(&name, &format!("{}\n", lines[0]));
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    // It takes no room on the disk.
    file.set_len(1 << 30).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"\n{}\n").unwrap();
    let subject = file_of(&repo, CLAUDE.0);
    let mut limited = Command::new("sh");
    // In KiB.
    limited.args(["-c", "ulimit -v 800000; exec \"$@\"", "sh"]);
    let plain =
        world.command(&["rescue", "--json", "--root", repo.to_str().unwrap(), subject.to_str().unwrap()]);
    limited.arg(plain.get_program()).args(plain.get_args()).env_clear().env("HOME", world.path("home"));
    let output = limited.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["versions"][0]["sure"], "partial", "{told:#}");
    assert!(told["unread"][0].as_str().unwrap().contains("not read whole"), "{told:#}");
}
