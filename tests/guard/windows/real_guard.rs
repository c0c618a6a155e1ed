//! Real agents with the guard's hooks, on demand: two windows in one tree, with the test's own model, and hooks that
//! fail.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use serde_json::{Value, json};

use crate::pty::Screen;
use crate::windows::model::{Model, Script, Step};
use crate::windows::real::{
    Agent, CLAUDE, CODEX, COPILOT, GEMINI, KEY, Leftovers, OPENCODE, QWEN, install, is_wanted, parents, shop,
};
use crate::world::World;

/// The prompts that the two windows get.
const FIRST: &str = "Play the first part";
const SECOND: &str = "Play the second part";
const PAY: &str = "src/pay.rs";
const STASH: Step = Step::Shell("git stash");

fn git(folder: &str, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(arguments);
    let output = command.stderr(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// One agent, its hooks and the tree in which its windows work.
struct Stage<'a> {
    world: &'a World,
    agent: &'a Agent,
    program: String,
    folder: String,
}

impl<'a> Stage<'a> {
    fn set(world: &'a World, agent: &'a Agent) -> Self {
        let folder = shop(world);
        for file in [PAY, "src/cart.rs"] {
            world.write(&format!("shop/{file}"), "one\n");
        }
        git(&folder, &["init", "-q"]);
        git(&folder, &["add", "-A"]);
        git(&folder, &["commit", "-qm", "first"]);
        world.write("home/.gitconfig", "[user]\nname = x\nemail = x@x\n");
        let program = install(world, agent).to_str().unwrap().to_owned();
        let stage = Self { world, agent, program, folder };
        stage.hook(None);
        stage
    }

    /// Writes the settings that `hook print` shows into the agent's, with another command in place of the guard's if
    /// one is given.
    fn hook(&self, instead: Option<&str>) {
        let name = self.agent.name;
        let mut printed = self.world.run(&["hook", "print", name]).out;
        if name == OPENCODE.name {
            if let Some(instead) = instead {
                let guard = r#"spawnSync("claimtop", ["guard", "--for", "opencode"], "#;
                assert!(printed.contains(guard), "{printed}");
                printed =
                    printed.replace(guard, &format!("spawnSync(\"sh\", [\"-c\", {}], ", json!(instead)));
            }
            self.world.write("home/.config/opencode/plugin/claimtop.js", &printed);
            return;
        }
        if let Some(instead) = instead {
            let word = if name == CLAUDE.name { "claude" } else { name };
            let guard = format!("claimtop guard --for {word}");
            assert!(printed.contains(&guard), "{printed}");
            printed = printed.replace(&guard, json!(instead).to_string().trim_matches('"'));
        }
        let mut settings: Value = serde_json::from_str(&printed).unwrap();
        let write = |file: &str, value: &Value| self.world.write(file, &value.to_string());
        let folder = &self.folder;
        match name {
            "claude-code" => {
                settings["permissions"] = json!({ "allow": ["Bash", "Read", "Write", "Edit"] });
                write("home/.claude/settings.json", &settings);
                let settled = json!({
                    "hasCompletedOnboarding": true,
                    "theme": "dark",
                    "customApiKeyResponses": { "approved": [KEY.get(KEY.len() - 20..).unwrap()], "rejected": [] },
                    "projects": { folder: { "hasTrustDialogAccepted": true } },
                });
                write("home/.claude.json", &settled);
            }
            "codex" => {
                write("home/.codex/hooks.json", &settings);
            }
            "copilot" => {
                write("home/.copilot/hooks/claimtop.json", &settings);
            }
            "gemini" => {
                settings["security"] = json!({ "auth": { "selectedType": "gemini-api-key" } });
                write("home/.gemini/settings.json", &settings);
                write("home/.gemini/trustedFolders.json", &json!({ folder: "TRUST_FOLDER" }));
            }
            _ => {
                settings["security"] = json!({ "auth": { "selectedType": "openai" } });
                write("home/.qwen/settings.json", &settings);
            }
        }
    }

    /// Starts a window with a prompt.
    fn open(&self, model: &Model, prompt: &str) -> Screen {
        let address = &model.address;
        let mut command = CommandBuilder::new(&self.program);
        match self.agent.name {
            "claude-code" => command.args(["--permission-mode", "acceptEdits", prompt]),
            "codex" => {
                let config = "model = 'gpt-5.5'\nmodel_provider = 'x'\n[model_providers.x]\nname = 'x'\n\
                              base_url = '{address}/v1'\nwire_api = 'responses'\nenv_key = 'OPENAI_API_KEY'\n";
                self.world.write("home/.codex/config.toml", &config.replace("{address}", address));
                // There is no person who could look at the hooks.
                let unasked = "--dangerously-bypass-hook-trust";
                command.args(["exec", unasked, "--dangerously-bypass-approvals-and-sandbox", prompt]);
            }
            "copilot" => command.args(["-p", prompt]),
            "opencode" => {
                let base = json!({ "baseURL": format!("{address}/v1"), "apiKey": "none" });
                let models = json!({ "x": { "name": "x", "tool_call": true } });
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible", "name": "stub", "options": base, "models": models,
                });
                let config = json!({
                    "provider": { "stub": provider }, "model": "stub/x", "small_model": "stub/x",
                    "autoupdate": false, "share": "disabled",
                });
                self.world.write("home/.config/opencode/opencode.json", &config.to_string());
                command.args(["run", prompt]);
            }
            "gemini" => command.args(["--skip-trust", "--yolo", "--prompt-interactive", prompt]),
            _ => command.args(["--yolo", "--prompt-interactive", prompt]),
        }
        command.env_clear();
        let home = self.world.path("home");
        let claimtop = std::path::Path::new(env!("CARGO_BIN_EXE_claimtop")).parent().unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", claimtop.display());
        let versioned = format!("{address}/v1");
        for (name, value) in [
            ("HOME", home.to_str().unwrap()),
            ("PATH", &path),
            ("TERM", "xterm-256color"),
            ("DISABLE_AUTOUPDATER", "1"),
            // A debug build beside two agents is slower than any user's machine.
            ("CLAIMTOP_GUARD_MS", "20000"),
            ("ANTHROPIC_API_KEY", KEY),
            ("ANTHROPIC_BASE_URL", address),
            ("GEMINI_API_KEY", "none"),
            ("GOOGLE_GEMINI_BASE_URL", address),
            ("OPENAI_API_KEY", "none"),
            ("OPENAI_BASE_URL", &versioned),
            ("OPENAI_MODEL", "x"),
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_PROVIDER_BASE_URL", &versioned),
            ("COPILOT_MODEL", "gpt-4.1"),
            ("COPILOT_ALLOW_ALL", "true"),
        ] {
            command.env(name, value);
        }
        command.cwd(&self.folder);
        Screen::start(command, 120, 40)
    }
}

/// Waits for the request of a script's agent after this many calls.
#[track_caller]
fn request(model: &Model, screen: &mut Screen, script: &str, calls: usize) -> Value {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(90) {
        if let Some(asked) = model.request(script, calls) {
            return asked;
        }
        screen.take_output();
    }
    panic!("{script:?} was never asked on after {calls} calls:\n{}", screen.picture());
}

fn is_ours(line: &str) -> bool {
    line.contains("claimtop: the window") || line.contains("claimtop held this up")
}

/// Returns every line of a request that comes from claimtop.
fn said(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.lines().filter(|line| is_ours(line)).map(str::to_owned).collect(),
        Value::Array(values) => values.iter().flat_map(said).collect(),
        Value::Object(values) => values.values().flat_map(said).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns the process that a text names.
fn named(text: &str) -> Option<u32> {
    text.split("PID ").nth(1)?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[track_caller]
fn two_windows(agent: &Agent) {
    if !is_wanted() {
        return;
    }
    let world = World::new();
    let _leftovers = Leftovers(&world);
    let stage = Stage::set(&world, agent);
    let first = vec![Step::Read(PAY), Step::Write(PAY, "first")];
    let second = vec![Step::Read(PAY), Step::Write(PAY, "second"), STASH, STASH];
    let scripts = vec![
        Script { name: FIRST, steps: first, is_held: true },
        Script { name: SECOND, steps: second, is_held: false },
    ];
    let model = Model::start(stage.folder.clone(), scripts);
    let mut one = stage.open(&model, FIRST);
    let asked = request(&model, &mut one, FIRST, 2);
    assert_eq!(said(&asked), [""; 0], "it is alone");
    assert!(git(&stage.folder, &["diff"]).contains("+first"));

    let mut other = stage.open(&model, SECOND);
    let texts: Vec<Vec<String>> =
        (0..=4).map(|calls| said(&request(&model, &mut other, SECOND, calls))).collect();
    eprintln!("{}: {:#?}", agent.name, texts[4]);
    let brief = texts[0].iter().find(|text| text.contains("has uncommitted edits in `src/pay.rs`"));
    let brief = brief.unwrap();
    let pid = named(brief).unwrap();
    assert!(parents(pid).contains(&one.child.process_id().unwrap()), "{brief}");
    let new = |calls: usize, what: &str| {
        let has = |texts: &[String]| texts.iter().filter(|text| text.contains(what)).count();
        has(&texts[calls]) - has(&texts[calls - 1])
    };
    let (note, held) = ("Read the file again", "held this up once: `git stash`");
    assert_eq!((new(2, note), new(3, note), new(4, note)), (1, 0, 0), "a note after the edit");
    assert_eq!((new(2, held), new(3, held), new(4, held)), (0, 1, 0), "the first is held up");
    assert_eq!(git(&stage.folder, &["stash", "list"]).lines().count(), 1, "the second goes through");
    model.release();
}

#[track_caller]
fn broken(agent: &Agent) {
    if !is_wanted() {
        return;
    }
    let world = World::new();
    let _leftovers = Leftovers(&world);
    let stage = Stage::set(&world, agent);
    for instead in ["/no/such/program", "sleep 3", "echo garbage", "echo '{'", "sh -c 'exit 1'"] {
        git(&stage.folder, &["checkout", "-q", "."]);
        stage.hook(Some(instead));
        let steps = vec![Step::Read(PAY), Step::Write(PAY, "first"), Step::Shell("git stash")];
        let model = Model::start(stage.folder.clone(), vec![Script { name: FIRST, steps, is_held: true }]);
        let mut window = stage.open(&model, FIRST);
        request(&model, &mut window, FIRST, 2);
        eprintln!("{}: wrote with {instead:?} as its hook", agent.name);
        assert_eq!(git(&stage.folder, &["status", "--short"]).trim(), "M src/pay.rs", "{instead}");
        request(&model, &mut window, FIRST, 3);
        assert_eq!(git(&stage.folder, &["stash", "list"]).lines().count(), 1, "{instead}");
        git(&stage.folder, &["stash", "drop", "-q"]);
    }
}

#[test]
fn claude_code_is_told_and_held_up_once() {
    two_windows(&CLAUDE);
}

#[test]
fn codex_is_told_and_held_up_once() {
    two_windows(&CODEX);
}

#[test]
fn gemini_is_told_and_held_up_once() {
    two_windows(&GEMINI);
}

#[test]
fn qwen_is_told_and_held_up_once() {
    two_windows(&QWEN);
}

#[test]
fn copilot_is_told_and_held_up_once() {
    two_windows(&COPILOT);
}

#[test]
fn opencode_is_told_and_held_up_once() {
    two_windows(&OPENCODE);
}

#[test]
fn claude_code_works_on_whatever_its_hook_does() {
    broken(&CLAUDE);
}

#[test]
fn codex_works_on_whatever_its_hook_does() {
    broken(&CODEX);
}

#[test]
fn gemini_works_on_whatever_its_hook_does() {
    broken(&GEMINI);
}

#[test]
fn qwen_works_on_whatever_its_hook_does() {
    broken(&QWEN);
}

#[test]
fn copilot_works_on_whatever_its_hook_does() {
    broken(&COPILOT);
}

#[test]
fn opencode_works_on_whatever_its_hook_does() {
    broken(&OPENCODE);
}
