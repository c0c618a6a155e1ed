//! Windows with a configuration folder of their own are followed there, unless a person has named the
//! only folders to read.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::program;
use crate::world::World;

const ID: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// A stand-in for Claude Code, until it is dropped.
struct Window(Child);

impl Window {
    /// Starts one with a configuration folder of its own, and registers it there.
    fn start(world: &World, config: &Path) -> Self {
        let agent = world.path("node_modules/@anthropic-ai/claude-code/bin/claude");
        if !agent.exists() {
            std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
            program::copy("/bin/sleep", &agent);
        }
        std::fs::create_dir_all(config.join("sessions")).unwrap();
        let mut command = Command::new(&agent);
        command.arg("600").env_clear().env("HOME", world.path("home")).env("CLAUDE_CONFIG_DIR", config);
        let window = Self(command.stdin(Stdio::null()).spawn().unwrap());
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

/// Prepares a look at this world's home as a person's own: it is not named by an option.
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
