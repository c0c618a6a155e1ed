//! A window in the test's own tmux server: its place is shown, and can be gone to.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use portable_pty::CommandBuilder;
use serde_json::Value;

use crate::program;
use crate::pty::{Screen, claimtop};
use crate::world::World;

/// A tmux server on a socket of its own, until it is dropped.
struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// Starts a server whose first window is a shell and whose second one is an agent.
    fn start(world: &World) -> Self {
        let agent = world.path("node_modules/@anthropic-ai/claude-code/bin/claude");
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        program::copy("/bin/sh", &agent);
        let tmux = Self { socket: world.path("tmux.sock") };
        tmux.ask(&["new-session", "-d", "-s", "work", "-x", "80", "-y", "24", "/bin/sh"]);
        let start = format!("{} -c 'read line'", agent.display());
        tmux.ask(&["new-window", "-d", "-t", "work", "-n", "agent", &start]);
        tmux
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_clear().env("PATH", "/usr/bin:/bin").env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        let output = command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(arguments).output();
        let output = output.unwrap();
        assert!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the pane that the session shows.
    fn shown(&self) -> String {
        self.ask(&["display-message", "-p", "-t", "work", "#{pane_id}"]).trim().to_owned()
    }

    /// Attaches a terminal.
    fn attach(&self) -> Screen {
        let mut command = CommandBuilder::new("tmux");
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("PATH", "/usr/bin:/bin");
        command.args(["-S", self.socket.to_str().unwrap(), "attach", "-t", "work"]);
        let mut screen = Screen::start(command, 80, 24);
        screen.wait_for("[work]");
        screen
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").status();
    }
}

/// Waits until claimtop sees the agent of this tmux.
fn window(world: &World, tmux: &Tmux) -> Value {
    for _ in 0..200 {
        let report: Value = serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap();
        let windows = report["windows"].as_array().unwrap();
        let is_its = |window: &&Value| window["place"]["socket"] == tmux.socket.to_str().unwrap();
        if let Some(window) = windows.iter().find(is_its) {
            return window.clone();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the agent in tmux never was a window");
}

#[test]
fn a_window_in_tmux_is_told_and_gone_to() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let agent = window(&world, &tmux);
    let (pane, server) = ("%1", tmux.ask(&["display-message", "-p", "#{pid}"]));
    assert_eq!(agent["place"]["keeper"], "tmux");
    assert_eq!(agent["pane"], pane);
    assert_eq!(agent["place"]["session"], "$0");
    let program = std::fs::read_link(format!("/proc/{}/exe", server.trim())).unwrap();
    assert_eq!(agent["place"]["program"], program.to_str().unwrap());
    assert_eq!(tmux.shown(), "%0");

    let arguments = ["--home", "home", "--tmp", "tmp"];
    let arguments = arguments.map(|one| if one.starts_with('-') { one.to_owned() } else { at(&world, one) });
    let mut screen = Screen::start(claimtop(&arguments), 160, 40);
    let pid = agent["pid"].to_string();
    screen.wait_for("2 Windows");
    screen.press("2");
    screen.wait_for(&pid);
    screen.press(&format!("/{pid}\r"));
    screen.wait_for("1 of");
    screen.press("J");
    screen.wait_for("nobody is attached: tmux -S");
    assert_eq!(tmux.shown(), pane);

    let person = tmux.attach();
    tmux.ask(&["select-window", "-t", "work:0"]);
    screen.press("J");
    screen.wait_for("tmux shows its pane %1");
    assert_eq!(tmux.shown(), pane);
    drop(person);
    assert_eq!(screen.end(), 0);
}

fn at(world: &World, name: &str) -> String {
    world.path(name).to_str().unwrap().to_owned()
}
