//! The session that a window runs, from real processes and real files: each agent is a small program under that
//! agent's name.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program;
use crate::world::World;

const ID: &str = "01a1fae8-b49c-7fa1-96a4-858f57a486cb";

/// A process under an agent's name, until it is dropped.
struct StandIn(Child);

impl StandIn {
    /// Starts `arguments` with a copy of `program` at `path`, in the world's folder `cwd`.
    fn start(world: &World, program: &str, path: &str, arguments: &[&str]) -> Self {
        let agent = world.path(path);
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        program::copy(program, &agent);
        let cwd = world.path("shop");
        std::fs::create_dir_all(&cwd).unwrap();
        let mut command = Command::new(&agent);
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").current_dir(cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self(program::spawn(&mut command))
    }

    /// Waits until claimtop reports this about its session: `exact lock 01a1...`.
    #[track_caller]
    fn check(&self, world: &World, expected: &str) {
        let mut found = String::new();
        for _ in 0..100 {
            found = self.session(world).unwrap_or_default();
            if found == expected {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{found} is not {expected}");
    }

    fn session(&self, world: &World) -> Option<String> {
        let report: Value = serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap();
        let windows = report["windows"].as_array().unwrap();
        let session = &windows.iter().find(|window| window["pid"] == self.0.id())?["session"];
        let words = [&session["strength"], &session["evidence"]["fact"], &session["id"]];
        Some(words.map(|word| word.as_str().unwrap_or_default()).join(" "))
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the stand-ins' working folder, as they themselves see it.
fn cwd(world: &World) -> PathBuf {
    world.path("").canonicalize().unwrap().join("shop")
}

fn slug(path: &Path) -> String {
    path.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[test]
fn codex_holds_its_rollout_open() {
    let world = World::new();
    let rollout = format!("home/.codex/sessions/2026/11/20/rollout-2026-11-20T21-41-57-{ID}.jsonl");
    let path = world.write(&rollout, "");
    let script = format!("exec 5>>{}; read line", path.display());
    let codex = "node_modules/@openai/codex-linux-x64/vendor/x/bin/codex";
    let window = StandIn::start(&world, "/bin/sh", codex, &["-c", &script]);
    window.check(&world, &format!("strong open file {ID}"));
}

#[test]
fn copilot_keeps_its_hold_locked() {
    let world = World::new();
    let folder = format!("home/.copilot/session-state/{ID}");
    let copilot = "node_modules/@github/copilot-linux-x64/copilot";
    std::fs::create_dir_all(world.path(&folder)).unwrap();
    // The name states the PID, which is known once it runs: so the lock is taken by another name.
    let held = world.write(&format!("{folder}/held"), "");
    let mut window = StandIn::start(
        &world,
        "/usr/bin/flock",
        copilot,
        &[held.to_str().unwrap(), "sh", "-c", "echo; read line"],
    );
    // Its children start with the lock held.
    let mut told = [0];
    window.0.stdout.as_mut().unwrap().read_exact(&mut told).unwrap();
    std::fs::rename(&held, world.path(&format!("{folder}/inuse.{}.hold", window.0.id()))).unwrap();
    window.check(&world, &format!("exact lock {ID}"));
}

#[test]
fn a_transcript_of_the_folder_is_a_guess() {
    let world = World::new();
    let claude = "node_modules/@anthropic-ai/claude-code/bin/claude";
    let window = StandIn::start(&world, "/bin/sh", claude, &["-c", "read line; exit 0"]);
    // Files written in the second of the start could be older than it.
    std::thread::sleep(Duration::from_millis(50));
    world.write(&format!("home/.claude/projects/{}/{ID}.jsonl", slug(&cwd(&world))), "{}\n");
    window.check(&world, &format!("guess folder {ID}"));
    let shown = world.run(&["explain", &window.0.id().to_string()]).out;
    assert!(shown.contains("a guess, and no decision relies on it"), "{shown}");
}

#[test]
fn a_transcript_of_600_mb_is_not_read() {
    let world = World::new();
    let claude = "node_modules/@anthropic-ai/claude-code/bin/claude";
    let window = StandIn::start(&world, "/bin/sh", claude, &["-c", "read line; exit 0"]);
    std::thread::sleep(Duration::from_millis(50));
    let path = world.write(&format!("home/.claude/projects/{}/{ID}.jsonl", slug(&cwd(&world))), "{}\n");
    std::fs::File::options().write(true).open(path).unwrap().set_len(600 << 20).unwrap();
    window.check(&world, &format!("guess folder {ID}"));
}

#[test]
fn a_window_whose_program_was_removed_is_one_still() {
    let world = World::new();
    let claude = "node_modules/@anthropic-ai/claude-code/bin/claude";
    let window = StandIn::start(&world, "/bin/sh", claude, &["-c", "read line; exit 0"]);
    std::fs::remove_file(world.path(claude)).unwrap();
    world.write(&format!("home/.claude/projects/{}/{ID}.jsonl", slug(&cwd(&world))), "{}\n");
    window.check(&world, &format!("guess folder {ID}"));
}

#[test]
fn gemini_names_its_project_and_qwen_its_folder() {
    let world = World::new();
    let script = world.write(".bin/gemini", "read line\n");
    let gemini = StandIn::start(&world, "/bin/sh", "bin/node", &[script.to_str().unwrap()]);
    let qwen_script = world.write(".bin/qwen", "read line\n");
    let qwen = StandIn::start(&world, "/bin/sh", "bin2/node", &[qwen_script.to_str().unwrap()]);
    std::thread::sleep(Duration::from_millis(50));
    let projects = serde_json::json!({ "projects": { cwd(&world).to_str().unwrap(): "shop" } });
    world.write("home/.gemini/projects.json", &projects.to_string());
    let chat = "home/.gemini/tmp/shop/chats/session-2026-11-20T21-41-01a1fae8.jsonl";
    world.write(chat, &format!(r#"{{"sessionId":"{ID}","projectHash":"x","kind":"main"}}"#));
    world.write(&format!("home/.qwen/projects/{}/chats/{ID}.jsonl", slug(&cwd(&world))), "{}\n");
    gemini.check(&world, &format!("guess folder {ID}"));
    qwen.check(&world, &format!("guess folder {ID}"));
}

/// Makes opencode's database, as a window that has it open would, with one session of a folder.
fn opencode_store(world: &World, folder: &Path) -> rusqlite::Connection {
    let path = world.path("home/.local/share/opencode/opencode.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let store = rusqlite::Connection::open(path).unwrap();
    let schema = "PRAGMA journal_mode = wal; CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, \
                  directory TEXT, time_updated INTEGER, time_archived INTEGER)";
    store.execute_batch(schema).unwrap();
    add_session(&store, SES, None, folder, 0);
    store
}

const SES: &str = "ses_e0515a879ffeeCvFT1faoBtJOy";

/// Adds a session written this many seconds from now.
fn add_session(store: &rusqlite::Connection, id: &str, parent: Option<&str>, folder: &Path, ahead: i64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let at = i64::try_from(now.as_millis()).unwrap() + ahead * 1_000;
    let values = rusqlite::params![id, parent, folder.to_str().unwrap(), at];
    store.execute("INSERT INTO session VALUES (?1, ?2, ?3, ?4, NULL)", values).unwrap();
}

fn opencode(world: &World) -> StandIn {
    let program = "node_modules/opencode-linux-x64/bin/opencode";
    StandIn::start(world, "/bin/sh", program, &["-c", "read line; exit 0"])
}

#[test]
fn opencode_is_read_beside_who_writes_its_database() {
    let world = World::new();
    let window = opencode(&world);
    std::thread::sleep(Duration::from_millis(50));
    let mut store = opencode_store(&world, &cwd(&world));
    let writing = store.transaction().unwrap();
    add_session(&writing, "ses_notcommitted00000000000000", None, &cwd(&world), 0);
    window.check(&world, &format!("guess folder {SES}"));
    writing.rollback().unwrap();
    // A sub-agent's session and one of another folder are newer, and not this window's.
    add_session(&store, "ses_ofasubagent000000000000000", Some(SES), &cwd(&world), 1);
    add_session(&store, "ses_ofanotherfolder00000000000", None, Path::new("/elsewhere"), 1);
    window.check(&world, &format!("guess folder {SES}"));
    add_session(&store, "ses_thenextone0000000000000000", None, &cwd(&world), 1);
    window.check(&world, "guess folder ses_thenextone0000000000000000");
}

#[test]
fn opencode_is_read_when_nobody_has_its_database_open_and_nothing_is_made_beside_it() {
    let world = World::new();
    let window = opencode(&world);
    std::thread::sleep(Duration::from_millis(50));
    drop(opencode_store(&world, &cwd(&world)));
    window.check(&world, &format!("guess folder {SES}"));
    let beside = std::fs::read_dir(world.path("home/.local/share/opencode")).unwrap();
    assert_eq!(beside.count(), 1, "the database and nothing else");
}

#[test]
fn two_windows_of_opencode_in_one_folder_are_not_guessed() {
    let world = World::new();
    let one = opencode(&world);
    let other = "bin/.opencode/bin/opencode";
    let two = StandIn::start(&world, "/bin/sh", other, &["-c", "read line; exit 0"]);
    std::thread::sleep(Duration::from_millis(50));
    let _store = opencode_store(&world, &cwd(&world));
    one.check(&world, "  ");
    two.check(&world, "  ");
    drop(two);
    one.check(&world, &format!("guess folder {SES}"));
}

#[test]
fn a_transcript_of_a_folder_of_the_same_short_name_is_no_guess() {
    let world = World::new();
    let script = world.write(".bin/qwen", "read line\n");
    let window = StandIn::start(&world, "/bin/sh", "bin/node", &[script.to_str().unwrap()]);
    std::thread::sleep(Duration::from_millis(50));
    let chats = format!("home/.qwen/projects/{}/chats", slug(&cwd(&world)));
    world.write(&format!("{chats}/{ID}.jsonl"), "{\"cwd\":\"/some/where-else\"}\n");
    window.check(&world, "  ");
    let own = serde_json::json!({ "cwd": cwd(&world) });
    world.write(&format!("{chats}/02a1fae8-b49c-7fa1-96a4-858f57a486cb.jsonl"), &format!("{own}\n"));
    window.check(&world, "guess folder 02a1fae8-b49c-7fa1-96a4-858f57a486cb");
}
