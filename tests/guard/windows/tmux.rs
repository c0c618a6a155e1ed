//! A window in the test's own tmux server: its place is shown, and can be gone to.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use portable_pty::CommandBuilder;
use serde_json::Value;

use crate::program;
use crate::pty::{Screen, claimtop};
use crate::world::{Answer, World};

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
        let start = format!("{} -c 'echo the pane says hello; read line'", agent.display());
        tmux.ask(&["new-window", "-d", "-t", "work", "-n", "agent", &start]);
        tmux
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        // The windows of a server have the PATH that it was started with.
        let programs = format!("{}:/usr/bin:/bin", self.socket.with_file_name("bin").display());
        command.env_clear().env("PATH", programs).env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
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
    screen.press("p");
    screen.wait_for("Its pane now");
    screen.wait_for("the pane says hello");
    drop(person);
    assert_eq!(screen.end(), 0);
}

/// A name that tmux would run if it were read as a format.
const HOSTILE: &str = "pay #(touch pwned)";
// Every test has sessions of its own: all of them see each other's agents.
const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000901";

#[test]
fn a_dead_window_is_brought_back_unless_something_alive_may_run_its_session() {
    let world = World::new();
    world.write("bin/claude", "#!/bin/sh\necho \"$PWD $*\" >> \"$HOME/ran\"\nexec sleep 60\n");
    let claude = world.path("bin/claude");
    std::fs::set_permissions(&claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.write("my shop/pay.rs", "");
    let folder = at(&world, "my shop");
    let entry = serde_json::json!({
        "pid": 4_194_301, "sessionId": SESSION, "cwd": folder, "startedAt": 1_795_000_000_000_i64, "name": HOSTILE
    });
    world.write("home/.claude/sessions/4194301.json", &entry.to_string());
    let tmux = Tmux::start(&world);
    tmux.ask(&["set-environment", "-g", "HOME", &at(&world, "home")]);
    window(&world, &tmux);
    let inside = format!("{},1,0", tmux.socket.display());
    let path = format!("{}:/usr/bin:/bin", at(&world, "bin"));
    let run = |arguments: &[&str]| world.run_with(arguments, &[("TMUX", &inside), ("PATH", &path)]);
    // The session of the agent that lives in the server's second window is not known.
    let refused = run(&["bring-back", "--all", "--yes"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.out.contains("may run its session: which one it runs is not known"), "{refused:?}");
    tmux.ask(&["kill-window", "-t", "work:agent"]);
    let listed = loop {
        let listed = run(&["bring-back", "--json"]);
        let report: Value = serde_json::from_str(&listed.out).unwrap();
        if report["windows"][0]["refusal"].is_null() {
            break report;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(listed["windows"][0]["session"], SESSION, "{listed}");
    assert_eq!(run(&["bring-back", "nobody"]).code, 2);
    let dry = bring_back(&world, &tmux, &["bring-back", &SESSION[..8], "--dry-run"]);
    assert_eq!((dry.code, tmux.ask(&["list-windows", "-t", "work"]).lines().count()), (0, 1), "{dry:?}");
    // Another test's agent may run meanwhile: then nothing is opened.
    let opened = loop {
        let opened = run(&["bring-back", HOSTILE, "--yes"]);
        if !opened.out.contains("may run its session") {
            break opened;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(opened.code, 0, "{opened:?}");
    assert!(opened.out.contains("opened in a new window of this tmux"), "{opened:?}");
    let ran = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        std::fs::read_to_string(world.path("home/ran")).ok().filter(|ran| ran.ends_with('\n'))
    });
    assert_eq!(ran.as_deref(), Some(format!("{folder} --resume {SESSION}\n").as_str()));
    let names = tmux.ask(&["list-windows", "-t", "work", "-F", "#{window_name}"]);
    assert!(names.contains("pay --touch pwned-"), "{names}");
    let journal: Value = serde_json::from_str(&run(&["journal", "--json"]).out).unwrap();
    let entry = journal["entries"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&entry["action"], &entry["title"]), (&"bring-back".into(), &HOSTILE.into()), "{entry}");
    let undone = run(&["undo", &entry["number"].to_string()]);
    assert!(undone.code == 3 && undone.out.contains("stays open"), "{undone:?}");
    let again = run(&["bring-back", HOSTILE, "--yes"]);
    assert_eq!(again.code, 3, "{again:?}");
    assert!(again.out.contains("already") || again.out.contains("may run its session"), "{again:?}");
    for place in ["pwned", "home/pwned", "my shop/pwned"] {
        assert!(!world.path(place).exists(), "{place}");
    }
}

fn at(world: &World, name: &str) -> String {
    world.path(name).to_str().unwrap().to_owned()
}

/// Writes a program `claude` that notes each start and then runs as an agent with its arguments.
fn claude(world: &World) {
    let agent = world.path("node_modules/@anthropic-ai/claude-code/bin/claude");
    std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
    program::copy("/bin/sh", &agent);
    world.write("work/session", "read line < /dev/tty\n");
    let start = format!(
        "#!/bin/sh\necho \"$*\" >> \"$HOME/ran\"\nexec {} {} \"$@\"\n",
        agent.display(),
        at(world, "work/session")
    );
    world.write("bin/claude", &start);
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(world.path("bin/claude"), permissions).unwrap();
}

/// Starts a server in which a person has a shell.
fn server(world: &World, socket: &str) -> Tmux {
    let tmux = Tmux { socket: world.path(socket) };
    tmux.ask(&["new-session", "-d", "-s", "work", "-x", "80", "-y", "24", "/bin/sh"]);
    tmux.ask(&["set-environment", "-g", "HOME", &at(world, "home")]);
    tmux
}

/// Runs `bring-back` in a server until other tests' agents are not in the way.
fn bring_back(world: &World, tmux: &Tmux, arguments: &[&str]) -> Answer {
    let inside = format!("{},1,0", tmux.socket.display());
    let path = format!("{}:/usr/bin:/bin", at(world, "bin"));
    loop {
        let run = world.run_with(arguments, &[("TMUX", &inside), ("PATH", &path)]);
        if !run.out.contains("may run its session") {
            return run;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn ran(world: &World) -> Vec<String> {
    let ran = std::fs::read_to_string(world.path("home/ran")).unwrap_or_default();
    ran.lines().map(str::to_owned).collect()
}

#[test]
fn two_that_bring_a_window_back_at_once_open_it_once() {
    let session = "aaaaaaaa-0000-4000-8000-000000000911";
    let world = World::new();
    claude(&world);
    for (pid, session) in [(4_194_301, session), (4_194_302, "aaaaaaaa-0000-4000-8000-000000000919")] {
        let entry = serde_json::json!({
            "pid": pid, "sessionId": session, "cwd": at(&world, "work"), "startedAt": 1_795_000_000_000_i64
        });
        world.write(&format!("home/.claude/sessions/{pid}.json"), &entry.to_string());
    }
    let servers = [server(&world, "one.sock"), server(&world, "two.sock")];
    std::thread::scope(|scope| {
        for tmux in &servers {
            scope.spawn(|| bring_back(&world, tmux, &["bring-back", "--all", "--yes"]));
        }
    });
    let mut ran = ran(&world);
    ran.sort();
    let expected = [session, "aaaaaaaa-0000-4000-8000-000000000919"].map(|id| format!("--resume {id}"));
    assert_eq!(ran, expected);
}

#[test]
fn a_window_that_only_its_hooks_note_names_is_brought_back() {
    let session = "aaaaaaaa-0000-4000-8000-000000000912";
    let world = World::new();
    claude(&world);
    let tmux = server(&world, "one.sock");
    let agent = world.path("node_modules/@anthropic-ai/claude-code/bin/claude");
    let hook = format!(
        r#"{{"session_id":"{session}","cwd":"{}","hook_event_name":"SessionStart"}}"#,
        at(&world, "work")
    );
    world.write("hook.json", &hook);
    let bind = format!(
        "sh -c '{} bind --home {} --tmp {} < {}; exit $?'; echo noted > {}; read line < /dev/tty",
        env!("CARGO_BIN_EXE_claimtop"),
        at(&world, "home"),
        at(&world, "tmp"),
        at(&world, "hook.json"),
        at(&world, "noted")
    );
    world.write("first", &bind);
    let start = format!("cd {} && exec {} {}", at(&world, "work"), agent.display(), at(&world, "first"));
    tmux.ask(&["new-window", "-d", "-t", "work", "-n", "agent", &start]);
    while !world.path("noted").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Such an agent removes its own entry when its terminal goes, so that nothing but the note is left.
    tmux.ask(&["kill-window", "-t", "work:agent"]);
    let brought = loop {
        let brought = bring_back(&world, &tmux, &["bring-back", "--all", "--yes"]);
        if !brought.out.contains("runs as PID") && !brought.out.contains("No window has died") {
            break brought;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!((brought.code, ran(&world)), (0, vec![format!("--resume {session}")]), "{brought:?}");
}

/// Returns a terminal in which `bring-back` asks a person.
fn asking(world: &World, tmux: &Tmux) -> Screen {
    let (home, tmp) = (at(world, "home"), at(world, "tmp"));
    let mut command = claimtop(&["bring-back", "--all", "--home", &home, "--tmp", &tmp].map(str::to_owned));
    command.env("TMUX", format!("{},1,0", tmux.socket.display()));
    Screen::start(command, 120, 24)
}

#[test]
fn a_window_that_a_person_has_brought_back_meanwhile_is_not_opened_again() {
    let session = "aaaaaaaa-0000-4000-8000-000000000913";
    let world = World::new();
    claude(&world);
    let entry = serde_json::json!({
        "pid": 4_194_301, "sessionId": session, "cwd": at(&world, "work"), "startedAt": 1_795_000_000_000_i64
    });
    world.write("home/.claude/sessions/4194301.json", &entry.to_string());
    let tmux = server(&world, "one.sock");
    let mut asking = loop {
        let mut asking = asking(&world, &tmux);
        let has_asked = |screen: &Screen| screen.shows("[y/N]") || screen.shows("Nothing was opened");
        asking.wait_until("a question", has_asked);
        // Another test's agent that runs meanwhile may run the session.
        if asking.shows("[y/N]") {
            break asking;
        }
    };
    let by_hand = format!("cd {} && claude --resume {session}", at(&world, "work"));
    tmux.ask(&["new-window", "-d", "-t", "work", &by_hand]);
    while ran(&world).is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    asking.press("y\r");
    asking.wait_for("not brought back");
    assert_eq!(ran(&world).len(), 1);
}

#[test]
fn the_lines_of_the_page_show_a_summary_and_open_the_screen() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pane.md")).unwrap();
    let lines = page.split_once("```tmux\n").unwrap().1.split_once("```").unwrap().0;
    let world = World::new();
    let arguments = format!("claimtop --home {} --tmp {}", at(&world, "home"), at(&world, "tmp"));
    world.write("home/.keep", "");
    world.write("tmp/.keep", "");
    let configuration = world.write("tmux.conf", &lines.replace("claimtop", &arguments));
    std::fs::create_dir_all(world.path("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_claimtop"), world.path("bin/claimtop")).unwrap();
    let tmux = server(&world, "one.sock");
    tmux.ask(&["source-file", configuration.to_str().unwrap()]);
    let keys = tmux.ask(&["list-keys", "-T", "prefix", "C"]);
    assert!(keys.contains("display-popup") && keys.contains("claimtop"), "{keys}");
    // tmux runs the command for a terminal that is attached.
    let mut person = tmux.attach();
    // Other tests have windows as well.
    person.wait_for("window");
}

#[test]
fn the_plugin_adds_the_summary_once_and_a_key() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/tmux/claimtop.tmux");
    let summary = "#(claimtop statusline </dev/null)";
    let option = |name: &str| tmux.ask(&["show-option", "-gv", name]);
    let has_key = |key: &str| tmux.ask(&["list-keys", "-T", "prefix", key]).contains("display-popup -E");
    let before = option("status-right");
    for _ in 0..2 {
        tmux.ask(&["run-shell", plugin]);
        assert_eq!(option("status-right"), format!("{summary} {before}"));
        assert!(has_key("C"));
    }
    // Where a person has a place for it, it goes there.
    tmux.ask(&["set-option", "-g", "status-right", "%H:%M"]);
    tmux.ask(&["set-option", "-g", "status-left", "#S #{claimtop}|"]);
    tmux.ask(&["set-option", "-g", "@claimtop-key", "M-c"]);
    tmux.ask(&["run-shell", plugin]);
    assert_eq!(option("status-right"), "%H:%M\n");
    assert_eq!(option("status-left"), format!("#S {summary}|\n"));
    assert!(has_key("M-c"));
    // Neither, if a person wants neither.
    tmux.ask(&["set-option", "-g", "status-left", ""]);
    tmux.ask(&["set-option", "-g", "@claimtop-status", "off"]);
    tmux.ask(&["set-option", "-g", "@claimtop-key", ""]);
    tmux.ask(&["unbind-key", "C"]);
    tmux.ask(&["run-shell", plugin]);
    assert_eq!((option("status-left").trim(), option("status-right").as_str()), ("", "%H:%M\n"));
    assert!(!tmux.ask(&["list-keys", "-T", "prefix"]).contains(" C "));
}

#[test]
fn the_plugin_for_herdr_opens_a_pane_that_it_has() {
    let text = include_str!("../../../assets/herdr/herdr-plugin.toml");
    let plugin: toml::Table = toml::from_str(text).unwrap();
    let first = |list: &str| plugin[list].as_array().unwrap()[0].clone();
    assert_eq!(plugin["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    let open = first("actions")["command"].as_array().unwrap()[2].as_str().unwrap().to_owned();
    let pane = first("panes");
    let names = [plugin["id"].as_str().unwrap(), pane["id"].as_str().unwrap()];
    assert!(open.ends_with(&format!("--plugin {} --entrypoint {}", names[0], names[1])), "{open}");
}
