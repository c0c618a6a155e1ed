//! A window in zellij, which the test's registries do not offer: its server is a shell under its name, and the program
//! that is asked to show the pane is a script of the test's.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program;
use crate::pty::{Screen, claimtop};
use crate::world::World;

/// A server with an agent below it, until it is dropped.
struct Zellij(Child);

/// How the server's program is named to the system.
enum Program {
    /// Its own, which can be asked to show a pane.
    Own,
    /// Another one, so that the usual name is asked.
    Other,
}

impl Zellij {
    fn start(world: &World, program: &Program) -> Self {
        let agent = world.path("node_modules/@anthropic-ai/claude-code/bin/claude");
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        program::copy("/bin/sh", &agent);
        let server = world.path("server/zellij");
        std::fs::create_dir_all(server.parent().unwrap()).unwrap();
        match program {
            Program::Own => program::copy("/bin/sh", &server),
            Program::Other => symlink("/bin/sh", &server).unwrap(),
        }
        // The command after the agent prevents the server from becoming it.
        let script = format!("{} -c 'read line'; :", agent.display());
        let mut command = Command::new(server);
        command.args(["-c", &script]).env_clear().stdin(Stdio::piped()).stderr(Stdio::null());
        command.envs([("ZELLIJ_SESSION_NAME", "quiet-fox"), ("ZELLIJ_PANE_ID", "3")]);
        Self(command.spawn().unwrap())
    }
}

impl Drop for Zellij {
    fn drop(&mut self) {
        // The agent ends with its input.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Waits until claimtop sees the agent below this server, and returns its PID.
fn agent(world: &World, program: &Program) -> String {
    let own = world.path("server/zellij").canonicalize().unwrap();
    for _ in 0..200 {
        let report: Value = serde_json::from_str(&world.run(&["ls", "--json"]).out).unwrap();
        let windows = report["windows"].as_array().unwrap().iter();
        let is_its = |window: &&Value| match program {
            Program::Own => window["place"]["program"] == own.to_str().unwrap(),
            Program::Other => window["place"]["program"].is_null(),
        };
        // Other tests have such windows as well.
        let runs_own = |window: &&Value| {
            let exe = std::fs::read_link(format!("/proc/{}/exe", window["pid"]));
            exe.is_ok_and(|exe| exe.starts_with(world.path("").canonicalize().unwrap()))
        };
        let mut here = windows.filter(|window| window["place"]["session"] == "quiet-fox").filter(runs_own);
        if let Some(window) = here.find(is_its) {
            assert_eq!((&window["place"]["keeper"], &window["pane"]), (&"zellij".into(), &"3".into()));
            return window["pid"].to_string();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the agent in zellij never was a window");
}

/// Puts a `zellij` that runs `script` first in the path, and opens the screen at that window.
fn screen(world: &World, pid: &str, script: &str) -> (Screen, PathBuf) {
    let program = world.write("first/zellij", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let at = |name: &str| world.path(name).to_str().unwrap().to_owned();
    let mut command = claimtop(&["--home".to_owned(), at("home"), "--tmp".to_owned(), at("tmp")]);
    command.env("PATH", format!("{}:/usr/bin:/bin", at("first")));
    let mut screen = Screen::start(command, 160, 40);
    screen.wait_for("2 Windows");
    screen.press("2");
    screen.wait_for(pid);
    screen.press(&format!("/{pid}\r"));
    screen.wait_for("1 of");
    (screen, program)
}

/// Presses `J` until the program has been started: it is busy while another test's child has the script open for
/// writing.
#[track_caller]
fn jump(screen: &mut Screen, told: &Path) {
    for _ in 0..100 {
        screen.press("J");
        for _ in 0..20 {
            screen.take_output();
            if told.exists() {
                return;
            }
        }
    }
    panic!("the program was never asked:\n{}", screen.picture());
}

#[test]
fn zellij_is_asked_to_show_the_pane() {
    let world = World::new();
    let _zellij = Zellij::start(&world, &Program::Other);
    let pid = agent(&world, &Program::Other);
    let (mut screen, program) = screen(&world, &pid, r#"printf '%s\n' "$@" > "$0.told""#);
    let told = program.with_extension("told");
    jump(&mut screen, &told);
    screen.wait_for("zellij shows its pane 3 of session quiet-fox");
    let arguments = std::fs::read_to_string(told).unwrap();
    assert_eq!(arguments, "--session\nquiet-fox\naction\nfocus-pane-id\nterminal_3\n");
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_zellij_that_hangs_is_ended_and_the_screen_goes_on() {
    let world = World::new();
    let _zellij = Zellij::start(&world, &Program::Other);
    let pid = agent(&world, &Program::Other);
    let (mut screen, program) = screen(&world, &pid, "echo $$ > \"$0.told\"\nexec sleep 600");
    let told = program.with_extension("told");
    jump(&mut screen, &told);
    screen.press("?");
    screen.wait_for("Keys");
    screen.press("\x1b");
    screen.wait_for("zellij did not answer within 1 s and was ended");
    let hung = std::fs::read_to_string(told).unwrap();
    let is_it = std::fs::read_to_string(format!("/proc/{}/cmdline", hung.trim()))
        .is_ok_and(|line| line.starts_with("sleep\x00600"));
    assert!(!is_it, "it still runs");
    assert_eq!(screen.end(), 0);
}

#[test]
fn the_servers_own_program_is_asked_before_the_first_in_the_path() {
    let world = World::new();
    let _zellij = Zellij::start(&world, &Program::Own);
    let pid = agent(&world, &Program::Own);
    let (mut screen, program) = screen(&world, &pid, "echo > \"$0.told\"");
    screen.press("J");
    // It is really a shell, and does not know such an option.
    screen.wait_for("zellij refused: ");
    assert!(!program.with_extension("told").exists());
    assert_eq!(screen.end(), 0);
}
