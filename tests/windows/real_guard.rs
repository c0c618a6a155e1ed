//! Real Claude Code with the guard, on demand: installed from its public package and run against a model of the test's
//! own, which does what a script says and keeps every request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::guard::repository_at;
use crate::real::{CLAUDE, KEY, Leftovers, install, is_wanted};
use crate::world::World;

/// A tool and its input, or the answer's text.
type Step = (&'static str, Value);

/// A model that answers each window by its script: a window asks below its own path.
struct Model {
    port: u16,
    scripts: Arc<Scripts>,
    asked: Arc<Asked>,
}

/// What each window's model does, step by step.
type Scripts = Mutex<Vec<(String, Vec<Step>)>>;
/// What each window asked its model.
type Asked = Mutex<Vec<(String, Value)>>;

impl Model {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let scripts: Arc<Scripts> = Arc::default();
        let asked: Arc<Asked> = Arc::default();
        let (by, kept) = (Arc::clone(&scripts), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (by, kept) = (Arc::clone(&by), Arc::clone(&kept));
                std::thread::spawn(move || answer(stream, &by, &kept));
            }
        });
        Self { port, scripts, asked }
    }

    /// Gives a window its script.
    fn plays(&self, window: &str, script: Vec<Step>) {
        self.scripts.lock().unwrap().push((window.to_owned(), script));
    }

    /// Returns the requests of a window's own turns, as text.
    fn requests(&self, window: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked
            .iter()
            .filter(|(of, _)| of == window)
            .map(|(_, request)| request["messages"].to_string())
            .collect()
    }
}

/// Reads one request and answers it.
fn answer(stream: TcpStream, scripts: &Scripts, asked: &Asked) {
    let mut reader = BufReader::new(&stream);
    let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
    let _ = reader.read_line(&mut first);
    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (kind, text) = if path.contains("/v1/messages") && !path.contains("count_tokens") {
        let window = path.split('/').nth(1).unwrap_or_default().to_owned();
        let has_tools =
            request["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "Write"));
        let done = request["messages"].to_string().matches(r#""type":"tool_result""#).count();
        // No model answers at once; a call that comes within 2 s is taken for one of the same answer.
        std::thread::sleep(Duration::from_millis(if has_tools { 2_200 } else { 0 }));
        let scripts = scripts.lock().unwrap();
        let script = scripts.iter().find(|(of, _)| *of == window).filter(|_| has_tools);
        let step = script.and_then(|(_, steps)| steps.get(done).cloned());
        if has_tools {
            asked.lock().unwrap().push((window, request.clone()));
        }
        ("text/event-stream", stream_of(step, done))
    } else {
        ("application/json", json!({ "input_tokens": 1 }).to_string())
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let _ = (&stream).write_all(format!("{head}{text}").as_bytes());
}

/// Returns an answer of the model as it streams it.
fn stream_of(step: Option<Step>, number: usize) -> String {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({ "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "m",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage });
    let (block, delta, reason) = match step {
        Some((tool, input)) => (
            json!({ "type": "tool_use", "id": format!("toolu_{number}_{}", rand()), "name": tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            "tool_use",
        ),
        None => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": "over" }),
            "end_turn",
        ),
    };
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ];
    let one = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(one).collect()
}

/// Returns what no other answer has.
fn rand() -> u32 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos()
}

/// What two windows work with.
struct Scene {
    world: World,
    program: PathBuf,
    repo: PathBuf,
    model: Model,
}

impl Scene {
    fn new(hooks: &Value) -> Self {
        let world = World::new();
        let program = install(&world, &CLAUDE);
        let repo = repository_at(&world.path("shop"));
        let mut settings = hooks.clone();
        settings["permissions"] = json!({ "allow": ["Read", "Write", "Edit", "Bash"] });
        world.write("home/.claude/settings.json", &settings.to_string());
        let approved = KEY.get(KEY.len() - 20..).unwrap();
        let settled = json!({ "hasCompletedOnboarding": true, "theme": "dark",
            "customApiKeyResponses": { "approved": [approved], "rejected": [] },
            "projects": { repo.canonicalize().unwrap().to_str().unwrap(): { "hasTrustDialogAccepted": true } } });
        world.write("home/.claude.json", &settled.to_string());
        // What is edited in the second of a commit may be before it.
        std::thread::sleep(Duration::from_millis(1_100));
        Self { world, program, repo, model: Model::start() }
    }

    /// Starts a window that is given one prompt.
    fn start(&self, window: &str, script: Vec<Step>) -> Child {
        self.model.plays(window, script);
        let bin = Path::new(env!("CARGO_BIN_EXE_claimtop")).parent().unwrap();
        let mut command = Command::new(&self.program);
        command.args(["-p", "go on", "--permission-mode", "acceptEdits"]).current_dir(&self.repo).env_clear();
        command.env("HOME", self.world.path("home")).env("CLAIMTOP_GUARD_MS", "20000");
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}/{window}", self.model.port));
        command.env("ANTHROPIC_API_KEY", KEY).env("DISABLE_AUTOUPDATER", "1");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn write(&self, name: &str, text: &str) -> Step {
        ("Write", json!({ "file_path": self.repo.join(name), "content": text }))
    }

    fn read(&self, name: &str) -> Step {
        ("Read", json!({ "file_path": self.repo.join(name) }))
    }

    fn text_of(&self, name: &str) -> String {
        std::fs::read_to_string(self.repo.join(name)).unwrap_or_default()
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(90), "there never was {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn bash(line: &str) -> Step {
    ("Bash", json!({ "command": line, "description": "go on" }))
}

#[test]
fn a_second_window_is_told_before_its_first_call_and_its_stash_is_held_up_once() {
    if !is_wanted() {
        return;
    }
    let printed = World::new().run(&["hook", "print", "claude-code"]).out;
    let scene = Scene::new(&serde_json::from_str(&printed).unwrap());
    let _leftovers = Leftovers(&scene.world);
    let mut cart = scene.start(
        "cart",
        vec![
            scene.read("src/pay.rs"),
            scene.write("src/pay.rs", "cart\n"),
            bash("python3 -c 'import time; time.sleep(100)'"),
        ],
    );
    wait_until("an edit of the first window, which goes on", || scene.model.requests("cart").len() >= 3);
    assert_eq!(scene.text_of("src/pay.rs"), "cart\n");
    let other = scene.start(
        "other",
        vec![
            scene.read("src/pay.rs"),
            scene.write("src/pay.rs", "other\n"),
            bash("git stash"),
            bash("git stash"),
        ],
    );
    let answer = other.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    let requests = scene.model.requests("other");
    assert!(answer.status.success() && said.contains("over"), "{said}");
    assert_eq!(requests.len(), 5, "{said}");
    let pid = cart.id();
    let brief = format!("PID {pid}, alive, busy) has uncommitted edits in `src/pay.rs`");
    assert!(requests[0].contains(&brief));
    assert!(requests[2].contains(&format!("PID {pid}, alive, busy) edited `src/pay.rs`")));
    assert!(requests[3].contains("claimtop held this up once: `git stash`"));
    assert_eq!(requests[4].matches("claimtop held this up once").count(), 1);
    assert_eq!(scene.text_of("src/pay.rs"), "one\n", "it was stashed in the end");
    eprintln!(
        "{}",
        requests[0].split("claimtop: ").nth(1).unwrap_or_default().split("\\n").next().unwrap_or_default()
    );
    cart.kill().unwrap();
    cart.wait().unwrap();
}

#[test]
fn whatever_becomes_of_its_hook_the_agent_works_on() {
    if !is_wanted() {
        return;
    }
    for command in [
        "/nowhere/claimtop guard --for claude",
        "sleep 3",
        "echo 'no JSON {{{'",
        "echo '{\"hookSpecific'",
        "exit 1",
    ] {
        let hook = json!([{ "hooks": [{ "type": "command", "command": command }] }]);
        let hooks = json!({ "hooks": { "UserPromptSubmit": hook, "PreToolUse": hook, "PostToolUse": hook } });
        let scene = Scene::new(&hooks);
        let _leftovers = Leftovers(&scene.world);
        let window = scene.start("only", vec![scene.write("src/new.rs", "new\n"), bash("echo ran > ran")]);
        let answer = window.wait_with_output().unwrap();
        assert!(answer.status.success(), "{command}: {}", String::from_utf8_lossy(&answer.stdout));
        assert_eq!(
            (scene.text_of("src/new.rs").as_str(), scene.text_of("ran").as_str()),
            ("new\n", "ran\n"),
            "{command}"
        );
    }
}
