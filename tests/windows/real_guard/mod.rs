//! Real agents with the guard, on demand: installed from their public packages and run against a model of the test's
//! own.

mod model;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::model::{Model, Step};
use crate::guard::repository_at;
use crate::real::{CLAUDE, GEMINI, KEY, Leftovers, install, is_wanted};
use crate::world::World;

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

    /// Prepares windows of Gemini CLI, guarded as `hook print` shows it.
    fn of_gemini() -> Self {
        let world = World::new();
        let program = install(&world, &GEMINI);
        let repo = repository_at(&world.path("shop"));
        let mut settings: Value = serde_json::from_str(&world.run(&["hook", "print", "gemini"]).out).unwrap();
        settings["security"] = json!({ "auth": { "selectedType": "gemini-api-key" } });
        world.write("home/.gemini/settings.json", &settings.to_string());
        let trusted = json!({ repo.canonicalize().unwrap().to_str().unwrap(): "TRUST_FOLDER" });
        world.write("home/.gemini/trustedFolders.json", &trusted.to_string());
        std::thread::sleep(Duration::from_millis(1_100));
        Self { world, program, repo, model: Model::start() }
    }

    /// Starts a window of Gemini CLI that is given one prompt.
    fn start_gemini(&self, window: &str, script: Vec<Step>) -> Child {
        self.model.plays(window, script);
        let mut command = self.command(&["-m", "gemini-2.5-flash", "-p", "go on", "--approval-mode", "yolo"]);
        command.env("GOOGLE_GEMINI_BASE_URL", format!("http://127.0.0.1:{}/{window}", self.model.port));
        command.env("GEMINI_API_KEY", "none").env("GEMINI_CLI_NO_RELAUNCH", "true").spawn().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_claimtop")).parent().unwrap();
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.repo).env_clear();
        command.env("HOME", self.world.path("home")).env("CLAIMTOP_GUARD_MS", "20000");
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a window that is given one prompt.
    fn start(&self, window: &str, script: Vec<Step>) -> Child {
        self.model.plays(window, script);
        let mut command = self.command(&["-p", "go on", "--permission-mode", "acceptEdits"]);
        command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}/{window}", self.model.port));
        command.env("ANTHROPIC_API_KEY", KEY).env("DISABLE_AUTOUPDATER", "1");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").spawn().unwrap()
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

#[test]
fn a_window_of_gemini_is_told_and_held_up_just_so() {
    if !is_wanted() {
        return;
    }
    let scene = Scene::of_gemini();
    let _leftovers = Leftovers(&scene.world);
    let write =
        |text: &str| ("write_file", json!({ "file_path": scene.repo.join("src/pay.rs"), "content": text }));
    let shell = |line: &str| ("run_shell_command", json!({ "command": line, "description": "go on" }));
    let mut cart =
        scene.start_gemini("cart", vec![write("cart\n"), shell("python3 -c 'import time; time.sleep(100)'")]);
    wait_until("an edit of the first window, which goes on", || scene.model.requests("cart").len() >= 2);
    assert_eq!(scene.text_of("src/pay.rs"), "cart\n");
    let other = scene.start_gemini("other", vec![write("other\n"), shell("git stash"), shell("git stash")]);
    let answer = other.wait_with_output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&answer.stdout), String::from_utf8_lossy(&answer.stderr));
    let requests = scene.model.requests("other");
    assert!(answer.status.success() && said.contains("over"), "{said}");
    assert_eq!(requests.len(), 4, "{said}");
    assert!(requests[0].contains("alive) has uncommitted edits in `src/pay.rs`"), "{said}");
    assert!(requests[1].contains("alive) edited `src/pay.rs`"), "{said}");
    assert!(requests[2].contains("claimtop held this up once: `git stash`"), "{said}");
    assert_eq!(requests[3].matches("claimtop held this up once").count(), 1, "{said}");
    assert_eq!(scene.text_of("src/pay.rs"), "one\n", "it was stashed in the end");
    cart.kill().unwrap();
    cart.wait().unwrap();
}
