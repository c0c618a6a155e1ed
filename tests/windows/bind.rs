//! `bind` as a hook calls it: below a shell below an agent, which is a shell under an agent's name.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program;
use crate::world::World;

const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// A shell that stands where Claude Code's program would, until it is dropped.
struct Agent(Child);

impl Agent {
    /// Starts one that runs a hook `times` times and then waits.
    fn start(world: &World, hook: &str, times: u32) -> Self {
        let bin = world.path("node_modules/@anthropic-ai/claude-code/bin");
        std::fs::create_dir_all(&bin).unwrap();
        let program = bin.join("claude");
        if !program.exists() {
            program::copy("/bin/sh", &program);
        }
        let input = world.write("hook.json", hook);
        let script = format!(
            r#"for i in $(seq {times}); do sh -c '"$0" bind --home "$1" --tmp "$2" --verbose < "$3"; exit $?' {bin} {home} {tmp} {input}; echo "code $?"; done; read line"#,
            bin = env!("CARGO_BIN_EXE_claimtop"),
            home = world.path("home").display(),
            tmp = world.path("tmp").display(),
            input = input.display(),
        );
        let mut command = Command::new(&program);
        command.args(["-c", &script]).env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = std::io::BufReader::new(child.stdout.take().unwrap());
        for _ in 0..times {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut told, &mut line).unwrap();
            assert_eq!(line, "code 0\n", "a hook is silent and never fails");
        }
        Self(child)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn start_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
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
    // Whether it is dead depends on who else runs here; alive it is not.
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

/// Runs `bind` outside of any agent of ours, with this on its standard input.
fn told(world: &World, arguments: &[&str], input: &[u8]) -> (i32, String, String) {
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
    check(&["bind", "--verbose"], b"{", "no JSON object");
    check(&["bind", "--verbose"], b"", "no JSON object");
    check(&["bind", "--verbose"], b"[5]", "no JSON object");
    check(&["bind", "--verbose"], br#"{"session_id":"../../x"}"#, "no usable session");
    check(&["bind", "--verbose"], &vec![b' '; 2 << 20], "more than 1048576 bytes");
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
