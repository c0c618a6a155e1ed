//! Secrets in all external texts: none appears on the screen, in the output of a command, in a recording or in reports
//! to another machine.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::pty::Screen;
use crate::terminal::world::World;

/// The text that stands in each secret and nowhere else.
const SECRET: &str = "HUSH";

/// Returns a text with secrets of many shapes, which begins with the name of its place.
fn hostile(place: &str) -> String {
    format!(
        "seen-{place} xai-HUSHa7Kq2Zm9Xt4Rw6Lp1Bc8 and https://x.example/?sig=HUSHHUSH of postgres://u:HUSH@h/d \
         or curl -ubob:HUSH x; redis-cli -a HUSH; Pwd=HUSH; my password is HUSH1"
    )
}

/// Arguments of a process with secrets of many shapes.
fn arguments(place: &str) -> Vec<String> {
    let header = r#"{"headers":{"Authorization":"Bearer HUSH"}}"#;
    let own = [
        "--api-key", "HUSH", "--mcp-config", header, "--pass=HUSH", "DB_PASS=HUSH and HUSH", "-e",
        "A_TOKEN=HUSH",
    ];
    let of_curl =
        ["curl", "-ubob:HUSH", "-u", "bob:HUSH", "postgres://u:HUSH@h/d", "--proxy-user", "bob:HUSH"];
    [hostile(place)].into_iter().chain(own.into_iter().chain(of_curl).map(str::to_owned)).collect()
}

/// A shell in place of Claude Code's program, with a process below it. Both end with this.
struct Window {
    child: Child,
    session: &'static str,
}

impl Window {
    /// Starts it: it runs a hook first, if one is given.
    fn start(world: &World, session: &'static str, hook: &str) -> Self {
        let program = world.path("bin/@anthropic-ai/claude-code/claude");
        if !program.exists() {
            std::fs::create_dir_all(program.parent().unwrap()).unwrap();
            crate::program::copy("/bin/sh", &program);
        }
        let script = r#"exec 3<&0
            [ -z "$3" ] || "$1" bind --home "$2/home" --tmp "$2/tmp" --state "$2/state" < "$3"
            sh -c 'read end' "$@" <&3 &
            echo; read end <&3"#;
        let mut command = Command::new(program);
        command.args(["-c", script, "claude", env!("CARGO_BIN_EXE_claimtop")]).arg(world.path(""));
        command.arg(hook).args(arguments("argument")).current_dir(world.path("home/shop"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", world.path("home"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        Self { child, session }
    }

    /// Registers it, with these facts beside those that name it, and writes its work.
    fn register(&self, world: &World, place: &str, facts: &Value) {
        let (pid, session) = (self.child.id(), self.session);
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
        let mut entry =
            json!({ "pid": pid, "sessionId": session, "procStart": start, "cwd": world.path("home/shop") });
        entry.as_object_mut().unwrap().extend(facts.as_object().unwrap().clone());
        world.write(&format!("home/.claude/sessions/{pid}.json"), &entry.to_string());
        let text = |what: &str| hostile(&format!("{place}-{what}"));
        let call = json!({ "type": "tool_use", "id": "t1", "name": text("tool"), "input": { "command": text("call") } });
        let lines = [
            json!({ "type": "user", "message": { "role": "user", "content": text("prompt") }, "origin": { "kind": "human" },
                "permissionMode": text("mode"), "cwd": "/src", "version": text("version"), "timestamp": "2026-11-22T11:00:00Z" }),
            json!({ "type": "assistant", "message": { "model": text("model"), "content": [call] },
                "timestamp": "2026-11-22T11:00:05Z" }),
        ];
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        world.write(&format!("home/.claude/projects/-x/{session}.jsonl"), &lines);
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // Both read input that is no longer written.
        let _ = self.child.wait();
    }
}

/// A process that its window has left running. It ends with the pipe that it reads.
struct LeftOver(Child);

impl LeftOver {
    fn start(world: &World) -> Self {
        let mut shell = Command::new("/bin/sh");
        let script = r#"exec 3<&0; CLAUDE_PID=$$ sh -c 'read end' "$@" <&3 & echo"#;
        shell.args(["-c", script, "x"]).args(arguments("left-over")).env_clear().env("PATH", "/usr/bin:/bin");
        shell.env("HOME", world.path("home"));
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        Self(child)
    }
}

impl Drop for LeftOver {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}

/// Writes the files of systems, each with secrets in its texts.
fn write_files(world: &World) {
    let text = |name: &str, value: Value| world.write(name, &value.to_string());
    text(
        "home/.maia/sessions/swarm_session_399991.json",
        json!({ "current_agent": "beta_agent", "session_start": "2026-11-20T21:40:35", "query": hostile("maia-query") }),
    );
    world.write("home/.maia/sessions/swarm_session_399992.json", &hostile("maia-broken"));
    text(
        "home/.claude/sessions/399993.json",
        json!({ "pid": hostile("bad-pid"), "sessionId": "x", "name": hostile("bad-name") }),
    );
    text(
        "home/.claude/tasks/shop/1.json",
        json!({ "id": "1", "subject": hostile("task"), "status": "in_progress", "owner": hostile("task-owner") }),
    );
    text(
        "home/.claude-sessions/95fe798d-3725-4649-974a-0dec79220194.json",
        json!({ "session_id": "95fe798d-3725-4649-974a-0dec79220194", "terminal_id": "x", "pid": 399994,
            "heartbeat_at": hostile("leo-moment"), "sd_key": "SD-1", "callsign": hostile("leo-callsign") }),
    );
    text(
        "home/shop/.git/entire-sessions/95fe798d-3725-4649-974a-0dec79220195.json",
        json!({ "session_id": "95fe798d-3725-4649-974a-0dec79220195", "base_commit": "3397a23560d2f07f1d894e0049da6c8fb7a9553b",
            "phase": "active", "started_at": "2026-11-20T21:40:35Z", "last_prompt": hostile("entire-prompt") }),
    );
    world.write("tmp/claude_session_shop", &format!("{}\n2026-11-20T21:40:35.193569\n", hostile("slot")));
    let server = [["-c", "read end"].map(str::to_owned).to_vec(), arguments("left-over")].concat();
    let servers = json!({ hostile("server"): { "command": "sh", "args": server } });
    text("home/.claude.json", json!({ "mcpServers": servers }));
    world.write("home/shop/.git/HEAD", "ref: refs/heads/main\n");
    world.write("home/shop/.git/objects/info/packs", "");
    world.write("home/shop/.git/refs/heads/main", "3397a23560d2f07f1d894e0049da6c8fb7a9553b\n");
    world.write("home/shop/.git/worktrees/side/HEAD", "ref: refs/heads/side\n");
    world.write("home/shop/.git/worktrees/side/commondir", "../..\n");
    world.write(
        "home/shop/.git/worktrees/side/gitdir",
        &format!("{}\n", world.path("home/side/.git").display()),
    );
    world.write("home/shop/.git/worktrees/side/locked", &hostile("locked"));
    world.write(
        "home/side/.git",
        &format!("gitdir: {}\n", world.path("home/shop/.git/worktrees/side").display()),
    );
}

/// A whole machine on which every external text contains secrets.
struct Scene {
    world: World,
    _windows: [Window; 2],
    _left: LeftOver,
}

/// The sessions of the two windows: one that waits as its registry says, and one that waits as its hook noted.
const WAITS: &str = "95fe798d-3725-4649-974a-000000000001";
const ASKS: &str = "95fe798d-3725-4649-974a-000000000002";

impl Scene {
    fn new() -> Self {
        let world = World::new();
        write_files(&world);
        let waits = Window::start(&world, WAITS, "");
        let facts = json!({ "name": hostile("name"), "status": "waiting", "waitingFor": hostile("reason"),
            "entrypoint": hostile("entrypoint"), "kind": "interactive" });
        waits.register(&world, "waits", &facts);
        let hook = json!({ "session_id": ASKS, "cwd": "/x", "hook_event_name": "PermissionRequest",
            "tool_name": hostile("noted-tool"), "tool_input": { "command": hostile("noted-call") } });
        world.write("hook.json", &hook.to_string());
        let asks = Window::start(&world, ASKS, world.path("hook.json").to_str().unwrap());
        asks.register(&world, "asks", &json!({ "name": hostile("asking-name") }));
        let left = LeftOver::start(&world);
        Self { world, _windows: [waits, asks], _left: left }
    }

    /// Prepares claimtop's arguments for this world.
    fn arguments(&self, more: &[&str]) -> Vec<String> {
        let root = self.world.path("home/shop").display().to_string();
        let state = self.world.path("state").display().to_string();
        let own = ["--root", &root, "--state", &state].map(str::to_owned);
        more.iter().map(|&text| text.to_owned()).chain(own).collect()
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        command.args(self.arguments(more)).arg("--home").arg(self.world.path("home"));
        command.arg("--tmp").arg(self.world.path("tmp")).env_clear().env("HOME", self.world.path("home"));
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command to its end, and returns its output.
    fn run(&self, more: &[&str]) -> String {
        let output = self.command(more).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert_ne!(output.status.code(), Some(2), "{more:?}: {text}");
        text
    }

    /// Runs a command until it has printed a text, and returns the output up to there.
    fn run_until(&self, more: &[&str], shown: &str) -> String {
        let mut child = self.command(more).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut printed = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        while !printed.contains(shown) && out.read_line(&mut printed).unwrap() > 0 {}
        let _ = child.kill();
        child.wait().unwrap();
        printed
    }
}

/// The output, by the way in which it was requested.
#[derive(Default)]
struct Seen(Vec<(String, String)>);

impl Seen {
    fn add(&mut self, asked: &str, text: String) {
        self.0.push((asked.to_owned(), text));
    }

    /// Fails if a secret was shown, or if the text of a place never was.
    #[track_caller]
    fn check(&self, places: &[&str]) {
        for (asked, text) in &self.0 {
            let line = text.lines().find(|line| line.contains(SECRET));
            assert_eq!(line, None, "{asked} shows a secret");
        }
        let is_shown = |place: &&&str| self.0.iter().any(|(_, text)| text.contains(&format!("seen-{place}")));
        let missing: Vec<&&str> = places.iter().filter(|place| !is_shown(place)).collect();
        assert!(missing.is_empty(), "nothing shows {missing:?}");
    }

    /// Fails if one of these ways shows no external text.
    #[track_caller]
    fn check_each(&self, asked: &[&str]) {
        for one in asked {
            let is_it = |(asked, text): &(String, String)| asked.starts_with(one) && text.contains("seen-");
            assert!(self.0.iter().any(is_it), "{one} shows nothing from outside");
        }
    }
}

/// Returns the keys of everything listed in a report.
fn keys(report: &Value) -> Vec<String> {
    let lists = ["windows", "records", "claims", "findings", "left_overs", "left_trees", "needs"];
    let things = lists.iter().filter_map(|list| report[*list].as_array()).flatten();
    things.filter_map(|thing| Some(thing["key"].as_str()?.to_owned())).collect()
}

#[test]
fn no_command_prints_a_secret_that_came_from_outside() {
    let scene = Scene::new();
    let mut seen = Seen::default();
    let report = scene.run(&["ls", "--json", "--with-prompts"]);
    let all = keys(&serde_json::from_str(&report).unwrap());
    assert!(all.len() > 10, "{all:?}");
    seen.add("ls --json --with-prompts", report);
    for key in all.iter().map(String::as_str) {
        for arguments in [&["explain", key][..], &["explain", key, "--json"]] {
            seen.add(&arguments.join(" "), scene.run(arguments));
        }
    }
    let recording = scene.world.path("recording.jsonl").display().to_string();
    scene.run(&["record", &recording, "--once"]);
    seen.add("a recording", std::fs::read_to_string(&recording).unwrap());
    for command in [
        "ls", "ls windows", "ls sessions", "ls claims", "ls problems", "ls leftovers", "now", "now --json",
        "doctor", "doctor --json", "leftovers", "leftovers --json", "report", "report --with-prompts",
        "report --html -", "statusline", "config", "journal", "machines", "clean",
    ] {
        seen.add(command, scene.run(&command.split(' ').collect::<Vec<_>>()));
    }
    for more in
        [&["--once"][..], &["--once", "--json"], &["--frames", "1\n\u{1b}2\n\u{1b}3jj\n\u{1b}4\n\u{1b}5\n"]]
    {
        seen.add("replay", scene.run(&[&["replay", &recording][..], more].concat()));
    }
    seen.add("events", scene.run_until(&["events"], "399991"));
    seen.add("events --json", scene.run_until(&["events", "--json"], "399991"));
    seen.add("stream", scene.run_until(&["stream"], "seen-left-over"));
    seen.add("witness --dry-run", scene.run(&["witness", "--dry-run"]));
    seen.check_each(&[
        "ls", "now", "explain", "report", "a recording", "replay", "events", "stream", "witness", "doctor",
        "leftovers",
    ]);
    seen.check(&[
        "argument", "left-over", "name", "reason", "waits-prompt", "asks-prompt", "waits-call", "waits-tool",
        "waits-mode", "waits-version", "waits-model", "noted-call", "noted-tool", "maia-query", "task",
        "entire-prompt", "locked", "server", "bad-pid",
    ]);
}

#[test]
fn no_view_of_the_screen_shows_a_secret_that_came_from_outside() {
    let scene = Scene::new();
    let arguments = scene.arguments(&[]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut screen = Screen::start(scene.world.command(&arguments, &[]), 240, 60);
    screen.wait_for_sessions();
    let mut seen = Seen::default();
    // Every view, the evidence of its first things, and help.
    for view in ["1", "2", "3", "4", "5", "6", "7"] {
        screen.press(view);
        for key in ["", "\n", "\u{1b}", "j", "\n", "\u{1b}", "j", "\n", "\u{1b}", "j", "\n", "\u{1b}"] {
            screen.press(key);
            let before = screen.written.len();
            screen.take_output();
            seen.add(&format!("view {view}, key {key:?}"), screen.picture());
            seen.add("what was written", String::from_utf8_lossy(&screen.written[before..]).into_owned());
        }
    }
    assert_eq!(screen.end(), 0);
    seen.check(&["name", "reason", "noted-call"]);
}
