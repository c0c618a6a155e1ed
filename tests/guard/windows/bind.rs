//! `bind` as a hook calls it: below a shell below an agent, which is a shell under an agent's name.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program;
use crate::world::World;

const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// A shell in place of an agent's program, until it is dropped.
struct Agent {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Agent {
    /// Starts a Claude Code that runs a hook `times` times and then waits.
    fn start(world: &World, hook: &str, times: u32) -> Self {
        let mut agent = Self::of(world, "@anthropic-ai/claude-code/bin/claude", &["./session"]);
        (0..times).for_each(|_| agent.tell(world, hook));
        agent
    }

    /// Starts an agent that waits for hooks to run; its shell's script has the name of its first argument.
    fn of(world: &World, program: &str, arguments: &[&str]) -> Self {
        let program = world.path("node_modules").join(program);
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        if !program.exists() {
            program::copy("/bin/sh", &program);
        }
        let script = format!(
            r#"while read -r input; do sh -c '"$0" bind --home "$1" --tmp "$2" --verbose < "$3"; exit $?' {bin} {home} {tmp} "$input"; echo "code $?"; done"#,
            bin = env!("CARGO_BIN_EXE_claimtop"),
            home = world.path("home").display(),
            tmp = world.path("tmp").display(),
        );
        let script = world.write(&format!("hooks/{}", arguments[0]), &script);
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(script.parent().unwrap());
        command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    /// Lets it run a hook with this on its standard input.
    fn tell(&mut self, world: &World, hook: &str) {
        let input = world.write("hook.json", hook);
        writeln!(self.child.stdin.as_mut().unwrap(), "{}", input.display()).unwrap();
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        assert_eq!(line, "code 0\n", "a hook is silent and never fails");
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn start_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hook(session: &str) -> String {
    format!(r#"{{"session_id":"{session}","cwd":"/x","hook_event_name":"SessionStart","source":"startup"}}"#)
}

fn note(world: &World, session: &str, pid: u32) -> Option<Value> {
    let path = world.path(&format!("home/.local/state/claimtop/bindings/{session}.{pid}.json"));
    let text = std::fs::read_to_string(&path).ok()?;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    Some(serde_json::from_str(&text).unwrap())
}

fn report(world: &World) -> Value {
    serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap()
}

/// Returns one element of a list of the report.
fn found<'a>(report: &'a Value, list: &str, is_it: impl Fn(&&Value) -> bool) -> Option<&'a Value> {
    report[list].as_array().unwrap().iter().find(is_it)
}

#[test]
fn the_note_names_the_agent_and_not_the_hooks_shell() {
    let world = World::new();
    let agent = Agent::start(&world, &hook(SESSION), 2);
    let note = note(&world, SESSION, agent.pid()).unwrap();
    assert_eq!(note["schema"], "claimtop.binding.v1");
    assert_eq!(note["start_ticks"], agent.start_ticks());
    assert_eq!(note["agent"], "claude-code");
    assert_eq!(note["context_id"], agent.pid().to_string());
    assert_eq!(note["boot_id"], std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim());
    let folder = world.path("home/.local/state/claimtop/bindings");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1, "the second note took the first one's place");
}

#[test]
fn no_note_is_written_where_others_could_put_theirs() {
    let world = World::new();
    let state = world.path("home/.local/state/claimtop");
    std::fs::create_dir_all(&state).unwrap();
    let set = |mode| std::fs::set_permissions(&state, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o777);
    let mut agent = Agent::start(&world, &hook(SESSION), 1);
    assert_eq!(note(&world, SESSION, agent.pid()), None);
    set(0o700);
    agent.tell(&world, &hook(SESSION));
    assert!(note(&world, SESSION, agent.pid()).is_some());
}

#[test]
fn a_record_of_the_session_lives_and_dies_with_the_noted_process() {
    let world = World::new();
    world.write("tmp/claude_session_x", &format!("{SESSION}\n{}\n", "2026-11-20T10:00:00"));
    let is_slot = |record: &&Value| record["session_id"] == SESSION;
    let agent = Agent::start(&world, &hook(SESSION), 1);
    let alive = report(&world);
    let window = found(&alive, "windows", |window| window["pid"] == agent.pid()).unwrap();
    assert_eq!(window["session_id"], SESSION);
    let record = found(&alive, "records", is_slot).unwrap();
    assert_eq!(record["verdict"]["state"], "alive", "{record}");
    assert_eq!(record["verdict"]["evidence"][0]["fact"], "binding");
    assert_eq!(record["window"], window["key"]);
    drop(agent);
    let gone = report(&world);
    let record = found(&gone, "records", is_slot).unwrap();
    // Whether it is dead depends on the other processes here; it is not alive.
    assert_ne!(record["verdict"]["state"], "alive", "{record}");
}

#[test]
fn two_windows_of_one_session_are_a_collision() {
    let world = World::new();
    let (one, two) = (Agent::start(&world, &hook(SESSION), 1), Agent::start(&world, &hook(SESSION), 1));
    assert!(note(&world, SESSION, one.pid()).is_some() && note(&world, SESSION, two.pid()).is_some());
    let report = report(&world);
    let finding = found(&report, "findings", |finding| finding["code"] == "shared-session-id").unwrap();
    for pid in [one.pid(), two.pid()] {
        let message = finding["message"].as_str().unwrap();
        assert!(message.contains(&format!("(PID {pid})")), "{message}");
    }
}

fn event(name: &str, more: &str) -> String {
    format!(r#"{{"session_id":"{SESSION}","cwd":"/x","hook_event_name":"{name}"{more}}}"#)
}

/// Returns the call that the window waits for.
fn wait(world: &World, agent: &Agent) -> Value {
    let report = report(world);
    found(&report, "windows", |window| window["pid"] == agent.pid()).unwrap()["waiting"].clone()
}

#[test]
fn a_wait_is_noted_until_the_session_goes_on() {
    let world = World::new();
    let mut agent = Agent::start(&world, &hook(SESSION), 1);
    assert_eq!(wait(&world, &agent), Value::Null);
    let asks = r#","tool_name":"Bash","tool_input":{"command":"npm publish --token=ghp_0123456789abcdefghijABCDEFGHIJ012345\nsecond line"}"#;
    let other = r#","tool_name":"Bash","tool_input":{"command":"ls"}"#;
    let of_agent = |more: &str| format!(r#"{more},"agent_id":"a1","agent_type":"worker""#);
    let not_over = [
        ("PostToolUse", other.to_owned()),
        ("PostToolUse", of_agent(other)),
        ("PostToolUse", of_agent(asks)),
        ("PreToolUse", of_agent(other)),
        ("SubagentStop", of_agent("")),
    ];
    for (over, call) in [("PostToolUse", asks), ("UserPromptSubmit", ""), ("Stop", ""), ("SessionStart", "")]
    {
        agent.tell(&world, &event("PermissionRequest", asks));
        // It only repeats the request in less detail.
        agent.tell(&world, &event("Notification", r#","notification_type":"permission_prompt""#));
        agent.tell(&world, &event("Notification", r#","notification_type":"idle_prompt""#));
        let waiting = wait(&world, &agent);
        assert_eq!(waiting["wants"], "permission", "{waiting}");
        let command = waiting["call"]["target"]["command"].as_str().unwrap();
        assert!(command.starts_with("npm publish"), "{waiting}");
        let state = world.path("home/.local/state/claimtop/bindings");
        let (start, end) = (format!("{SESSION}.{}.", agent.pid()), ".wait");
        let names =
            std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let waits: Vec<String> =
            names.filter(|name| name.starts_with(&start) && name.ends_with(end)).collect();
        let [name] = waits.as_slice() else { panic!("{waits:?}") };
        let path = state.join(name);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("ghp_") && !text.contains("second line"), "{text}");
        for (name, more) in &not_over {
            agent.tell(&world, &event(name, more));
            assert_eq!(wait(&world, &agent)["wants"], "permission", "{name} {more}");
        }
        agent.tell(&world, &event(over, call));
        assert_eq!(wait(&world, &agent), Value::Null, "{over}");
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1, "nothing but who runs the session is left");
    }
}

#[test]
fn of_several_waits_the_earliest_that_is_open_is_shown() {
    let world = World::new();
    let mut agent = Agent::start(&world, &hook(SESSION), 1);
    let call = |command: &str, more: &str| {
        format!(r#","tool_name":"Bash","tool_input":{{"command":"{command}"}}{more}"#)
    };
    let (own, helper) = (call("npm publish", ""), call("rm -r build", r#","agent_id":"a1""#));
    let command = |agent: &Agent| wait(&world, agent)["call"]["target"]["command"].clone();
    agent.tell(&world, &event("PermissionRequest", &helper));
    agent.tell(&world, &event("PermissionRequest", &own));
    assert_eq!(command(&agent), "rm -r build");
    agent.tell(&world, &event("Stop", ""));
    assert_eq!(command(&agent), "rm -r build", "the sub-agent goes on when the turn is over");
    agent.tell(&world, &event("PermissionRequest", &own));
    agent.tell(&world, &event("SubagentStop", r#","agent_id":"a1""#));
    assert_eq!(command(&agent), "npm publish");
    agent.tell(&world, &event("Interrupt", ""));
    assert_eq!(command(&agent), Value::Null);
}

#[test]
fn a_daemon_that_serves_several_windows_notes_waits_and_binds_nobody() {
    let world = World::new();
    let codex = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
    let mut daemon = Agent::of(&world, codex, &["app-server", "--listen", "unix://"]);
    let asks = r#","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: g.txt\n+x\n*** End Patch"}"#;
    daemon.tell(&world, &event("PermissionRequest", asks));
    let names = || -> Vec<String> {
        let state = std::fs::read_dir(world.path("home/.local/state/claimtop/bindings")).unwrap();
        state.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let [name] = names().try_into().unwrap();
    assert!(name.starts_with(&format!("{SESSION}.{}.", daemon.pid())) && name.ends_with(".wait"), "{name}");
    daemon.tell(&world, &event("PostToolUse", asks));
    assert_eq!(names(), [""; 0]);
}

/// Runs `bind` outside of any agent of ours, with this on its standard input.
pub(crate) fn told(world: &World, arguments: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut command = world.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may refuse before all is read.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn check(arguments: &[&str], input: &[u8], expected: &str) {
    let world = World::new();
    let (code, out, err) = told(&world, arguments, input);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.contains(expected) && (!expected.is_empty() || err.is_empty()), "{err}");
    assert!(!world.path("home/.local/state/claimtop/bindings").exists());
}

#[test]
fn what_is_no_hook_is_told_only_to_who_asks() {
    check(&["bind"], b"{", "");
    check(&["bind", "--verbose"], b"{", "not a JSON object");
    check(&["bind", "--verbose"], b"", "not a JSON object");
    check(&["bind", "--verbose"], b"[5]", "not a JSON object");
    check(&["bind", "--verbose"], br#"{"session_id":"../../x"}"#, "no usable session");
    check(&["bind", "--verbose"], &vec![b' '; 9 << 20], "more than 8388608 bytes");
    check(&["bind", "--verbose", "--read-only"], hook(SESSION).as_bytes(), "read-only");
}

#[test]
fn not_even_a_wrong_argument_fails_the_hook() {
    let world = World::new();
    assert_eq!(world.run(&["bind", "--no-such-thing"]).code, 0);
    world.write("home/.config/claimtop/config.toml", "theme = 'pink'\n");
    let broken = world.run(&["bind"]);
    assert_eq!((broken.code, broken.out.as_str(), broken.err.as_str()), (0, "", ""));
}

#[test]
fn an_agent_that_never_ends_its_input_does_not_hold_the_hook_up() {
    let world = World::new();
    let mut command = world.command(&["bind"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let _open = child.stdin.take();
    for _ in 0..600 {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("it still waits");
}

#[test]
fn the_settings_of_every_agent_are_printed_and_nothing_is_edited() {
    let world = World::new();
    let all = world.run(&["hook", "print"]);
    for name in ["Claude Code", "Codex", "Gemini CLI", "Qwen Code", "Copilot CLI"] {
        assert!(all.out.contains(name), "{}", all.out);
    }
    let one = world.run(&["hook", "print", "claude-code"]);
    let value: Value = serde_json::from_str(&one.out).unwrap();
    assert_eq!(value["hooks"]["SessionStart"][0]["hooks"][0]["command"], "claimtop bind");
    assert_eq!(std::fs::read_dir(world.path("home")).unwrap().count(), 0);
}
