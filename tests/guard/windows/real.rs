//! Real agents, on demand: installed from their public packages into the test's folder and started in a terminal,
//! without any account, against an address where no server listens.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use portable_pty::CommandBuilder;
use rusqlite::OpenFlags;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::pty::Screen;
use crate::world::World;

/// Enables these tests: they install packages from npm.
const WANTED: &str = "CLAIMTOP_REAL_AGENTS";
/// An address where no server listens.
const NOBODY: &str = "http://127.0.0.1:9";

/// An agent that can be installed.
pub(crate) struct Agent {
    /// Its name in claimtop.
    pub(crate) name: &'static str,
    package: &'static str,
    program: &'static str,
    /// Its arguments.
    arguments: &'static [&'static str],
}

pub(crate) fn is_wanted() -> bool {
    let is_wanted = std::env::var_os(WANTED).is_some();
    if !is_wanted {
        eprintln!("skipped: real agents are installed from npm only where {WANTED} is set");
    }
    is_wanted
}

pub(crate) fn install(world: &World, agent: &Agent) -> PathBuf {
    let folder = world.path(agent.name);
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&folder);
    let output = npm.arg(agent.package).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.join("node_modules/.bin").join(agent.program)
}

/// Starts an agent in a terminal and a folder of its own.
fn start(world: &World, agent: &Agent, environment: &[(&str, &str)]) -> Screen {
    let program = install(world, agent);
    let cwd = world.path("shop");
    std::fs::create_dir_all(&cwd).unwrap();
    let mut command = CommandBuilder::new(program);
    command.args(agent.arguments);
    command.env_clear();
    let home = world.path("home");
    let own = [("HOME", home.to_str().unwrap()), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TERM", "xterm")];
    let addresses = ["HTTP_PROXY", "HTTPS_PROXY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"];
    for (name, value) in own.iter().chain(environment).copied().chain(addresses.map(|name| (name, NOBODY))) {
        command.env(name, value);
    }
    command.cwd(cwd.canonicalize().unwrap());
    Screen::start(command, 120, 40)
}

/// Waits until claimtop sees the agent as `wanted` requires, and returns it; no other agent works in the test's
/// folder.
#[track_caller]
fn window(world: &World, screen: &mut Screen, wanted: impl Fn(&Value) -> bool) -> Value {
    let cwd = world.path("shop").canonicalize().unwrap();
    let mut here = Vec::new();
    for _ in 0..300 {
        screen.take_output();
        let report: Value = serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap();
        let windows = report["windows"].as_array().unwrap().iter();
        here = windows.filter(|window| window["cwd"] == cwd.to_str().unwrap()).cloned().collect();
        if here.len() == 1 && wanted(&here[0]) {
            return here.remove(0);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it never was one window as wanted, but {here:?}:\n{}", screen.picture());
}

/// Ends what an agent left running: the processes whose program or working folder lies in the test's.
pub(crate) struct Leftovers<'a>(pub(crate) &'a World);

impl Drop for Leftovers<'_> {
    fn drop(&mut self) {
        let folder = self.0.path("").canonicalize().unwrap();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let is_here = |name| {
                std::fs::read_link(entry.path().join(name)).is_ok_and(|path| path.starts_with(&folder))
            };
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            if let Some(pid) = pid.filter(|_| is_here("exe") || is_here("cwd")) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Returns the settings that `hook print` shows for an agent, with this command in place of `bind`.
fn settings(world: &World, agent: &str, command: &str) -> Value {
    let printed = world.run(&["hook", "print", agent]).out;
    assert!(printed.contains("\"claimtop bind"), "{printed}");
    // The guard's answers do not matter to these tests.
    let printed = printed.replace("claimtop guard --for", "true");
    serde_json::from_str(&printed.replace("claimtop bind", json!(command).to_string().trim_matches('"')))
        .unwrap()
}

/// Returns the command of a hook that binds into this world.
fn bind(world: &World) -> String {
    let at = |name: &str| world.path(name).canonicalize().unwrap().to_str().unwrap().to_owned();
    format!("{} bind --verbose --home {} --tmp {}", env!("CARGO_BIN_EXE_claimtop"), at("home"), at("tmp"))
}

/// Returns where the agents of this world work.
pub(crate) fn shop(world: &World) -> String {
    std::fs::create_dir_all(world.path("shop")).unwrap();
    world.path("shop").canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// Returns the parents of a process, itself first.
pub(crate) fn parents(pid: u32) -> Vec<u32> {
    let parent = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok().filter(|pid| *pid > 0)
    };
    std::iter::successors(Some(pid), parent).collect()
}

#[track_caller]
fn check(agent: &Agent, window: &Value, screen: &Screen) {
    let pid = u32::try_from(window["pid"].as_u64().unwrap()).unwrap();
    assert_eq!(window["agent"], agent.name);
    assert_eq!(window["state"], "running");
    let context = json!({ "value": pid.to_string(), "source": "agent-pid", "stable": true });
    assert_eq!(window["context_id"], context);
    assert!(window["tty"].as_str().is_some_and(|tty| tty.starts_with("pts/")), "{window}");
    let started = screen.child.process_id().unwrap();
    assert!(parents(pid).contains(&started), "{pid} is not below {started}");
    eprintln!("{}: PID {pid} below {started}, session {}", agent.package, window["session"]);
}

pub(crate) const CLAUDE: Agent = Agent {
    name: "claude-code",
    package: "@anthropic-ai/claude-code@2.1.330",
    program: "claude",
    arguments: &[],
};
pub(crate) const GEMINI: Agent =
    Agent { name: "gemini", package: "@google/gemini-cli@0.61.0", program: "gemini", arguments: &[] };
pub(crate) const COPILOT: Agent =
    Agent { name: "copilot", package: "@github/copilot@1.0.102", program: "copilot", arguments: &[] };
pub(crate) const OPENCODE: Agent = Agent {
    name: "opencode",
    package: "opencode-ai@1.18.33",
    program: "opencode",
    arguments: &["--prompt", "hi"],
};
pub(crate) const CODEX: Agent =
    Agent { name: "codex", package: "@openai/codex@0.169.0", program: "codex", arguments: &[] };
pub(crate) const QWEN: Agent =
    Agent { name: "qwen", package: "@qwen-code/qwen-code@0.15.10", program: "qwen", arguments: &[] };

/// A key without an account, for programs that do not start without one.
pub(crate) const KEY: &str = "sk-ant-api03-no-such-account-00000000000000000000";

#[test]
fn claude_code_is_one_window_and_its_own_hook_binds_it() {
    if !is_wanted() {
        return;
    }
    let world = World::new();
    let _leftovers = Leftovers(&world);
    let settings = settings(&world, "claude-code", &bind(&world));
    world.write("home/.claude/settings.json", &settings.to_string());
    let trusted = json!({ shop(&world): { "hasTrustDialogAccepted": true } });
    let approved = KEY.get(KEY.len() - 20..).unwrap();
    let settled = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": { "approved": [approved], "rejected": [] },
        "projects": trusted,
    });
    world.write("home/.claude.json", &settled.to_string());
    let mut screen = start(&world, &CLAUDE, &[("ANTHROPIC_API_KEY", KEY), ("DISABLE_AUTOUPDATER", "1")]);
    let is_bound = |window: &Value| window["session"]["evidence"]["fact"] == "binding";
    let window = window(&world, &mut screen, is_bound);
    check(&CLAUDE, &window, &screen);
    assert_eq!(window["session"]["strength"], "exact");
    // Its own registry agrees.
    let registry = world.path(&format!("home/.claude/sessions/{}.json", window["pid"]));
    let registry: Value = serde_json::from_str(&std::fs::read_to_string(registry).unwrap()).unwrap();
    assert_eq!(registry["sessionId"], window["session_id"]);
}

#[test]
fn gemini_is_one_window_though_it_starts_itself_again_and_its_own_hook_binds_it() {
    if !is_wanted() {
        return;
    }
    let world = World::new();
    let _leftovers = Leftovers(&world);
    let mut settings = settings(&world, "gemini", &bind(&world));
    settings["security"] = json!({ "auth": { "selectedType": "gemini-api-key" } });
    world.write("home/.gemini/settings.json", &settings.to_string());
    let trusted = json!({ shop(&world): "TRUST_FOLDER" });
    world.write("home/.gemini/trustedFolders.json", &trusted.to_string());
    let mut screen = start(&world, &GEMINI, &[("GEMINI_API_KEY", "none")]);
    let is_bound = |window: &Value| window["session"]["evidence"]["fact"] == "binding";
    let window = window(&world, &mut screen, is_bound);
    check(&GEMINI, &window, &screen);
    assert_eq!(window["session"]["strength"], "exact");
    assert_ne!(window["pid"], screen.child.process_id().unwrap(), "the one that it started is the window");
}

#[test]
fn codex_is_one_window_below_its_launcher_and_its_daemon_runs_the_hook() {
    if !is_wanted() {
        return;
    }
    let world = World::new();
    let _leftovers = Leftovers(&world);
    let (told, why) = (world.path("told"), world.path("why"));
    let command = format!("tee {} | {} 2> {}", told.display(), bind(&world), why.display());
    let settings = settings(&world, "codex", &command);
    // Later hooks would overwrite the input of this one.
    let settings = json!({ "hooks": { "SessionStart": settings["hooks"]["SessionStart"] } });
    world.write("home/.codex/hooks.json", &settings.to_string());
    let config = "model_provider = 'x'\n[model_providers.x]\nname = 'x'\nbase_url = '{nobody}/v1'\n\
                  env_key = 'OPENAI_API_KEY'\n[projects.'{shop}']\ntrust_level = 'trusted'\n";
    let config = config.replace("{nobody}", NOBODY).replace("{shop}", &shop(&world));
    world.write("home/.codex/config.toml", &config);
    let mut screen = start(&world, &CODEX, &[("OPENAI_API_KEY", "none")]);
    let seen = window(&world, &mut screen, |_| true);
    check(&CODEX, &seen, &screen);
    // It runs no hook that a person has not looked at, and this one at the first prompt.
    let mut terminal = Terminal { screen, answered: 0 };
    let asks = |screen: &Screen| screen.shows("Hooks need review");
    terminal.press_until("its question", "", asks);
    terminal.press_until("a choice", "2", |screen| screen.shows("› 2."));
    terminal.press_until("its prompt", "\r", |screen| !asks(screen));
    let has_fired = |_: &Screen| std::fs::read(&told).is_ok_and(|bytes| !bytes.is_empty());
    terminal.screen.press("hi");
    terminal.press_until("a hook that fired", "\r", has_fired);
    let screen = &mut terminal.screen;
    let told: Value = serde_json::from_str(&std::fs::read_to_string(&told).unwrap()).unwrap();
    assert_eq!(told["hook_event_name"], "SessionStart");
    // The daemon, which serves several windows, runs it: so there is nothing to bind, and the session is a guess by
    // its folder.
    let is_guessed = |window: &Value| window["session"]["id"] == told["session_id"];
    let window = window(&world, screen, is_guessed);
    assert_eq!(window["session"]["strength"], "guess");
    let why = std::fs::read_to_string(why).unwrap();
    assert!(why.contains("serves several windows"), "{why}");
}

#[test]
fn opencode_is_one_window_and_its_database_tells_its_session() {
    if !is_wanted() {
        return;
    }
    let world = World::new();
    let _leftovers = Leftovers(&world);
    let cwd = shop(&world);
    let mut screen = start(&world, &OPENCODE, &[("OPENAI_API_KEY", "none")]);
    let seen = window(&world, &mut screen, |_| true);
    check(&OPENCODE, &seen, &screen);
    let store = world.path("home/.local/share/opencode/opencode.db");
    let session = || {
        let store = rusqlite::Connection::open_with_flags(&store, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        let query = "SELECT id FROM session WHERE directory = ?1";
        store.query_row(query, [&cwd], |row| row.get::<_, String>(0)).ok()
    };
    let mut terminal = Terminal { screen, answered: 0 };
    terminal.press_until("a session in its database", "\r", |_| session().is_some());
    let session = session();
    let is_guessed = |window: &Value| window["session"]["id"].as_str() == session.as_deref();
    let window = window(&world, &mut terminal.screen, is_guessed);
    assert_eq!(window["session"]["strength"], "guess");
    assert_eq!(window["session"]["evidence"]["fact"], "folder");
}

/// A terminal that answers a program's queries.
pub(crate) struct Terminal {
    pub(crate) screen: Screen,
    /// How much of the output has been searched for queries.
    pub(crate) answered: usize,
}

/// A program's queries for the cursor position and the terminal's abilities, and the answers.
const ANSWERS: [(&str, &str); 2] = [("\x1b[6n", "\x1b[1;1R"), ("\x1b[c", "\x1b[?1;2c")];

impl Terminal {
    fn take_output(&mut self) {
        self.screen.take_output();
        let new = String::from_utf8_lossy(&self.screen.written[self.answered..]).into_owned();
        self.answered = self.screen.written.len();
        for (asked, answer) in ANSWERS {
            new.matches(asked).for_each(|_| self.screen.press(answer));
        }
    }

    /// Waits for two seconds at most; returns whether the screen is as wanted.
    fn wait(&mut self, is_there: impl Fn(&Screen) -> bool) -> bool {
        (0..40).any(|_| {
            self.take_output();
            is_there(&self.screen)
        })
    }

    /// Presses keys now and then until the screen is as wanted: a program throws away what was typed
    /// while it started.
    #[track_caller]
    pub(crate) fn press_until(&mut self, what: &str, keys: &str, is_there: impl Fn(&Screen) -> bool) {
        for _ in 0..30 {
            if is_there(&self.screen) || self.wait(&is_there) {
                return;
            }
            self.screen.press(keys);
        }
        panic!("there never was {what}:\n{}", self.screen.picture());
    }
}
