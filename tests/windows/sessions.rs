//! Which session a window runs, from real processes and real files: each agent is a small program
//! under that agent's name.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::started;
use crate::world::World;

const ID: &str = "01a1fae8-b49c-7fa1-96a4-858f57a486cb";

/// A process under an agent's name, until it is dropped.
struct StandIn(Child);

impl StandIn {
    /// Starts `arguments` with a copy of `program` at `path`, in the world's folder `cwd`.
    fn start(world: &World, program: &str, path: &str, arguments: &[&str]) -> Self {
        let agent = world.path(path);
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        std::fs::copy(program, &agent).unwrap();
        let cwd = world.path("shop");
        std::fs::create_dir_all(&cwd).unwrap();
        let mut command = Command::new(&agent);
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").current_dir(cwd);
        Self(started(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null())))
    }

    /// Waits until claimtop says this of its session: `exact lock 01a1...`.
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

/// Returns the folder in which the stand-ins work, as they themselves see it.
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
    // What it starts, it starts with the lock held.
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
    assert!(shown.contains("a guess, on which nothing rests"), "{shown}");
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
