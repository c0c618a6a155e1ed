//! Windows with a home or a configuration folder of their own are followed there, unless a person has named the
//! only folders to read.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program;
use crate::world::World;

const ID: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// A stand-in for Claude Code, until it is dropped.
struct Window(Child);

impl Window {
    /// Starts one with a configuration folder of its own, and registers it there.
    fn start(world: &World, config: &Path) -> Self {
        Self::with(world, &world.path("home"), config)
    }

    /// Starts one with a home of its own.
    fn at_home(world: &World, home: &Path) -> Self {
        Self::with(world, home, &home.join(".claude"))
    }

    fn with(world: &World, home: &Path, config: &Path) -> Self {
        let agent = world.path("node_modules/@anthropic-ai/claude-code/bin/claude");
        if !agent.exists() {
            std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
            program::copy("/bin/sleep", &agent);
        }
        std::fs::create_dir_all(config.join("sessions")).unwrap();
        let mut command = Command::new(&agent);
        command.arg("600").env_clear().env("HOME", home).env("CLAUDE_CONFIG_DIR", config);
        let window = Self(program::spawn(command.stdin(Stdio::null())));
        let pid = window.0.id();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
        let entry = format!(r#"{{"pid":{pid},"sessionId":"{ID}","procStart":"{start}","name":"alpha"}}"#);
        std::fs::write(config.join(format!("sessions/{pid}.json")), entry).unwrap();
        window
    }

    /// Returns the session that a look finds for it.
    fn session(&self, look: &mut Command) -> Option<String> {
        let output = look.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let windows = report["windows"].as_array().unwrap();
        let window = windows.iter().find(|window| window["pid"] == self.0.id()).unwrap();
        window["session"]["id"].as_str().map(str::to_owned)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Prepares a look at this world's home as a person's own: no option names it.
fn at_home(world: &World) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    command.env_clear().env("HOME", world.path("home")).stdin(Stdio::null());
    command.arg("--tmp").arg(world.path("tmp")).args(["ls", "--json"]);
    command
}

#[test]
fn a_window_is_followed_into_a_configuration_folder_of_its_own() {
    let world = World::new();
    let (work, play) = (world.path("home/.claude-work"), world.path("play"));
    let windows = [Window::start(&world, &work), Window::start(&world, &play)];
    for window in &windows {
        assert_eq!(window.session(&mut at_home(&world)).as_deref(), Some(ID), "one look for several folders");
        assert_eq!(window.session(&mut world.command(&["ls", "--json"])), None, "the folders were named");
    }
}

/// Writes a record of each system that keeps some in a home; returns where.
#[test]
fn now_names_the_folders_that_were_not_looked_at() {
    let world = World::new();
    let _window = Window::start(&world, &world.path("home/.claude"));
    says_once_alone(
        &world,
        &[],
        &[
            "1 window: nothing that was read needs you, but not everything could be read: folders",
            "\n  folders: 1 folder of windows lies outside the folders that were named",
        ],
    );
    let here = std::env::current_dir().unwrap();
    says_once_alone(&world, &["--root", here.to_str().unwrap()], &["1 window, nothing needs you"]);
}

/// Asks for the needs until they are these: other tests have windows for a while, which count and collide, and whose
/// processes keep folders even when they are no longer windows. The longest of them take minutes.
#[track_caller]
fn says_once_alone(world: &World, options: &[&str], parts: &[&str]) {
    let over_at = Instant::now() + Duration::from_secs(900);
    loop {
        let now = world.run(&[&["now"], options].concat()).out;
        if parts.iter().all(|part| now.contains(part)) {
            return;
        }
        assert!(Instant::now() < over_at, "{now}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn fill(world: &World, home: &str) -> Vec<PathBuf> {
    let daemon = r#"{"pid":4194301,"processIdentity":{"bootId":"b","startTicks":7}}"#;
    let maia = r#"{"current_agent":"sre_agent","session_start":"2026-11-20T10:00:00"}"#;
    [
        (".maia/sessions/swarm_session_4194301.json".to_owned(), maia),
        (".codex/app-server-daemon/daemon.pid".to_owned(), daemon),
        (format!(".copilot/session-state/{ID}/inuse.4194301.lock"), "4194301"),
    ]
    .into_iter()
    .map(|(below, text)| world.write(&format!("{home}/{below}"), text))
    .collect()
}

/// Returns how many records of this path a look has.
fn count(output: &str, path: &Path) -> usize {
    output.matches(&format!("\"{}\"", path.display())).count()
}

fn look(world: &World) -> String {
    let output = at_home(world).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["records"].to_string()
}

#[test]
fn a_window_is_followed_into_a_home_of_its_own() {
    let world = World::new();
    let paths = fill(&world, "other");
    assert!(paths.iter().all(|path| count(&look(&world), path) == 0), "nobody works there");
    let _window = Window::at_home(&world, &world.path("other"));
    let found = look(&world);
    for path in &paths {
        assert_eq!(count(&found, path), 1, "{}", path.display());
    }
    let named = world.command(&["ls", "--json"]).output().unwrap();
    assert!(!String::from_utf8(named.stdout).unwrap().contains("/other/.maia"), "the home was named");
}

#[test]
fn a_home_that_others_could_turn_elsewhere_is_not_followed_and_said_so() {
    let world = World::new();
    let open = world.path("open");
    let [path, ..] = &fill(&world, "open/other")[..] else { panic!("nothing there") };
    std::fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
    let window = Window::at_home(&world, &open.join("other"));
    let output = at_home(&world).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(count(&report["records"].to_string(), path), 0);
    let why = no_record(&report, &window);
    assert!(why.ends_with("/open/other/.claude, was not read)"), "{why}");
    std::fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(count(&look(&world), path), 1);
}

/// Returns why there is no record of this window: other tests also have windows without one.
#[track_caller]
fn no_record(report: &Value, window: &Window) -> String {
    let of_it = format!("(PID {}): no system has a record of it", window.0.id());
    let mut findings = report["findings"].as_array().unwrap().iter();
    let message =
        findings.find_map(|finding| finding["message"].as_str().filter(|said| said.contains(&of_it)));
    message.unwrap_or_else(|| panic!("{}", report["findings"])).to_owned()
}

#[test]
fn the_same_home_by_another_name_is_read_once() {
    let world = World::new();
    let paths = fill(&world, "home");
    let alias = world.path("alias");
    std::os::unix::fs::symlink(world.path("home"), &alias).unwrap();
    let _window = Window::at_home(&world, &alias);
    let found = look(&world);
    for path in &paths {
        assert_eq!(count(&found, path), 1, "{}", path.display());
    }
    assert!(!found.contains("/alias/.maia") && !found.contains("/alias/.codex"), "{found}");
}

#[test]
fn whom_something_is_mounted_over_is_not_called_dead() {
    let world = World::new();
    let window = Window::start(&world, &world.path("home/.claude"));
    let (pid, of_it) = (window.0.id().to_string(), format!("/sessions/{}.json", window.0.id()));
    let [home, tmp] = ["home", "tmp"].map(|name| world.path(name));
    for mounted in
        ["-t tmpfs x /proc/$1", "--bind /dev/null /proc/$1/stat", "--bind /proc/1/stat /proc/$1/stat"]
    {
        let line = format!("mount {mounted} && exec \"$2\" --home \"$3\" --tmp \"$4\" ls --json");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &line, "sh", &pid, env!("CARGO_BIN_EXE_claimtop")]);
        let output = command.args([&home, &tmp]).output().unwrap();
        let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
            eprintln!("skipped: nothing can be mounted here: {}", String::from_utf8_lossy(&output.stderr));
            return;
        };
        let mut records = report["records"].as_array().unwrap().iter();
        let record = records.find(|record| record["location"].to_string().contains(&of_it));
        assert_eq!(record.unwrap()["verdict"]["state"], "unknown", "{mounted}: {record:?}");
    }
}
