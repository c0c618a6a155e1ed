//! Real Claude Code windows that end in six ways, on demand: the left-overs of each are reported, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use portable_pty::CommandBuilder;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};

use crate::pty::Screen;
use crate::windows::real::{CLAUDE, KEY, Leftovers, Terminal, install, is_wanted};
use crate::windows::service::{self, RUN};
use crate::world::World;

/// How long a window must have been dead for its left-overs to count, and some more.
const SETTLED: Duration = Duration::from_secs(130);

/// How long before a window is moved to the background all others must have been dead: of one that ended just then, it
/// is unknown whether it was moved.
const APART: Duration = Duration::from_secs(10);

/// An MCP server that answers what it must; `rude` ends only when it is killed.
const SERVER: &str = r#"
import json, signal, sys, time
rude = sys.argv[1] == "rude"
if rude:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    told = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                           "serverInfo": {"name": sys.argv[1], "version": "1"}},
            "tools/list": {"tools": []}}.get(asked.get("method"), {})
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
while rude:
    time.sleep(1)
"#;

/// How a window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It continues.
    No,
    /// `/exit`, and its tasks are stopped.
    Exit,
    /// Its pane is closed.
    Closed,
    /// Its process is killed.
    Killed,
    /// All of its process group is killed.
    GroupKilled,
    /// Its process is killed, and another window resumes its session.
    Resumed,
    /// `/exit`, and its daemon takes over its work.
    Backgrounded,
}

const ENDS: [End; 7] =
    [End::No, End::Exit, End::Closed, End::Killed, End::GroupKilled, End::Resumed, End::Backgrounded];

/// A window and the processes that it has started.
struct Window {
    end: End,
    terminal: Terminal,
    pid: u32,
    port: u16,
    started: BTreeMap<u32, String>,
}

/// Prepares a home in which Claude Code asks nothing, with three MCP servers.
fn prepare(world: &World, folder: &Path) {
    let server = world.write("server.py", SERVER);
    let server = server.to_str().unwrap();
    let direct = |name: &str| json!({ "type": "stdio", "command": "python3", "args": [server, name] });
    let line = format!("python3 {server} wrapped; true");
    let settled = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": { "approved": [KEY.get(KEY.len() - 20..).unwrap()], "rejected": [] },
        "projects": { folder.to_str().unwrap(): { "hasTrustDialogAccepted": true } },
        "mcpServers": {
            "plain": direct("plain"),
            "rude": direct("rude"),
            "wrapped": { "type": "stdio", "command": "sh", "args": ["-c", line] },
        },
    });
    world.write("home/.claude.json", &settled.to_string());
    let allowed = json!({ "permissions": { "allow": ["Bash"], "defaultMode": "default" } });
    world.write("home/.claude/settings.json", &allowed.to_string());
}

/// Opens a terminal with a shell in it.
fn shell(world: &World, folder: &Path, service: &str) -> Terminal {
    let mut command = CommandBuilder::new("/bin/bash");
    command.args(["--norc", "--noprofile", "-i"]);
    command.env_clear();
    let home = world.path("home");
    for (name, value) in [
        ("HOME", home.to_str().unwrap()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("TERM", "xterm-256color"),
        ("PS1", "READY "),
        ("ANTHROPIC_BASE_URL", service),
        ("ANTHROPIC_API_KEY", KEY),
        ("DISABLE_AUTOUPDATER", "1"),
    ] {
        command.env(name, value);
    }
    command.cwd(folder);
    Terminal { screen: Screen::start(command, 120, 40), answered: 0 }
}

/// Returns the parent of each process, and its program.
fn processes() -> BTreeMap<u32, (u32, String)> {
    let read = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit(')').next()?.split_whitespace();
        let (state, parent) = (fields.next()?, fields.next()?.parse().ok()?);
        let argv = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let argv = String::from_utf8_lossy(&argv).replace('\0', " ");
        (state != "Z").then_some((pid, (parent, argv)))
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Returns everything below a process.
fn below(pid: u32) -> BTreeMap<u32, String> {
    let all = processes();
    let mut found = BTreeSet::from([pid]);
    loop {
        let more: Vec<u32> = all
            .iter()
            .filter(|(pid, (parent, _))| found.contains(parent) && !found.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    found.remove(&pid);
    found.into_iter().filter_map(|pid| Some((pid, all.get(&pid)?.1.clone()))).collect()
}

fn raw(pid: u32) -> Pid {
    Pid::from_raw(pid.try_into().unwrap()).unwrap()
}

/// Waits until a condition holds.
#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never was so: {what}");
}

impl Window {
    /// Starts a window in a shell, with a server and a process that has left its parents.
    fn start(end: End, program: &str, (world, folder, service): (&World, &Path, &str)) -> Self {
        let mut terminal = shell(world, folder, service);
        terminal.press_until("a shell", "", |screen| screen.shows("READY"));
        terminal.screen.press(&format!("{program} --permission-mode default\r"));
        terminal.press_until("a prompt", "", |screen| screen.shows("manual mode on"));
        let shell = terminal.screen.child.process_id().unwrap();
        let pid = *below(shell).keys().next().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let away = format!("sleep {}", 100_000 + u32::from(port));
        let mut window = Self { end, terminal, pid, port, started: BTreeMap::new() };
        window.run(&format!("python3 -m http.server --bind 127.0.0.1 {port}"));
        wait_until("a server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        window.run(&format!("setsid nohup {away} >/dev/null 2>&1 & disown"));
        let is_away = |(pid, (_, argv)): (u32, (u32, String))| (argv.trim() == away).then_some((pid, argv));
        wait_until("a process that went away", || processes().into_iter().any(|one| is_away(one).is_some()));
        // Its three servers, and the processes below the wrapped one and the background shell.
        wait_until("all servers", || below(pid).len() >= 6);
        window.started = below(pid);
        window.started.extend(processes().into_iter().filter_map(is_away));
        eprintln!("{end:?}: PID {pid}, port {port}, {:?}", window.started.keys());
        window
    }

    fn run(&mut self, command: &str) {
        let typed = format!("{RUN}{command}");
        self.terminal.screen.press(&typed);
        let start = typed.get(..20).unwrap().to_owned();
        self.terminal.press_until("what was typed", "", |screen| screen.shows(&start));
        self.terminal.screen.press("\r");
        self.terminal.press_until("an answer", "", |screen| screen.shows("ok"));
    }

    fn end(&mut self, (world, program): (&World, &str)) {
        let pid = self.pid;
        match self.end {
            End::No => return,
            End::Exit => self.exit("1"),
            End::Backgrounded => self.exit("2"),
            // As the kernel does if a terminal hangs up: the shell signals its jobs.
            End::Closed => {
                kill_process(raw(self.terminal.screen.child.process_id().unwrap()), Signal::HUP).unwrap()
            }
            End::Killed | End::Resumed => kill_process(raw(pid), Signal::KILL).unwrap(),
            End::GroupKilled => kill_process_group(raw(pid), Signal::KILL).unwrap(),
        }
        let is_gone = || !processes().contains_key(&pid);
        if matches!(self.end, End::Exit | End::Backgrounded) {
            self.terminal.press_until("its end", "", |_| is_gone());
        }
        wait_until("its end", is_gone);
        if self.end == End::Resumed {
            let entry = std::fs::read(world.path(&format!("home/.claude/sessions/{pid}.json"))).unwrap();
            let entry: Value = serde_json::from_slice(&entry).unwrap();
            let session = entry["sessionId"].as_str().unwrap();
            self.terminal.press_until("its shell", "\r", |screen| screen.shows("READY"));
            self.terminal.screen.press(&format!("clear; {program} --resume {session}\r"));
            self.terminal.press_until("its session", "", |screen| screen.shows("manual mode on"));
        }
    }

    fn exit(&mut self, answer: &str) {
        self.terminal.screen.press("/exit");
        self.terminal.press_until("what was typed", "", |screen| screen.shows("/exit"));
        self.terminal.screen.press("\r");
        self.terminal.press_until("a question", "", |screen| screen.shows("Background work is running"));
        self.terminal.screen.press(answer);
    }
}

/// Returns the reported left-overs of a window, beyond reasonable doubt.
fn told(report: &Value, pid: u32) -> BTreeSet<u32> {
    let pid_of = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
    let all = report["left_overs"].as_array().unwrap().iter();
    let sure = all.filter(|one| matches!(one["certainty"].as_str(), Some("exact" | "strong")));
    let own = sure.filter(|one| one["window_pid"] == pid);
    let members = own.flat_map(|one| one["tree"].as_array().unwrap());
    members.map(|member| pid_of(&member["pid"])).collect()
}

/// Returns the processes that a person's own command selects; `None` if there is no such command.
fn selected(command: &[&str]) -> Option<BTreeSet<u32>> {
    let (program, arguments) = command.split_first().unwrap();
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// Describes what a selection would end: how many of the left-overs, how many of a living window, and whether the
/// client of a server with it.
fn said(selected: Option<&BTreeSet<u32>>, left: &BTreeSet<u32>, living: &BTreeSet<u32>) -> String {
    let Some(selected) = selected else { return "skipped".to_owned() };
    let client = if selected.contains(&std::process::id()) { ", the client" } else { "" };
    let (right, wrong) = (selected.intersection(left).count(), selected.intersection(living).count());
    format!("{right} of {}, {wrong} of the living window's{client}", left.len())
}

/// Prints which left-overs of each window the commands that people use would have met. No process is ended.
fn compare(windows: &[Window], left: impl Fn(&Window) -> BTreeSet<u32>, report: &Value) {
    let living = left(windows.iter().find(|window| window.end == End::No).unwrap());
    let orphans = selected(&["ps", "--ppid", "1", "-o", "pid="]);
    let [servers, listeners] =
        ["server.py plain", "http.server"].map(|pattern| selected(&["pgrep", "-f", pattern]));
    for window in windows {
        let port = window.port;
        let client = TcpStream::connect(("127.0.0.1", port)).ok();
        let listening = selected(&["lsof", "-ti", &format!(":{port}")]);
        drop(client);
        let left = left(window);
        let others = if window.end == End::No { &BTreeSet::new() } else { &living };
        let told = told(report, window.pid);
        for (way, selected) in [
            ("claimtop, exact or strong", Some(&told)),
            ("ps --ppid 1", orphans.as_ref()),
            ("lsof -ti :PORT", listening.as_ref()),
            ("pgrep -f of an MCP server", servers.as_ref()),
            ("pgrep -f http.server", listeners.as_ref()),
        ] {
            eprintln!("{:?}: {way}: {}", window.end, said(selected, &left, others));
        }
    }
}

#[test]
fn each_window_has_left_what_it_left_and_nobody_elses_is_told() {
    if !is_wanted() {
        return;
    }
    let world = World::new();
    let _leftovers = Leftovers(&world);
    let program = install(&world, &CLAUDE);
    let program = program.to_str().unwrap();
    let service = service::start();
    std::fs::create_dir_all(world.path("shop")).unwrap();
    let folder = world.path("shop").canonicalize().unwrap();
    prepare(&world, &folder);
    let place = (&world, folder.as_path(), service.as_str());
    let mut windows = ENDS.map(|end| Window::start(end, program, place));
    // As an open screen: a window that ends cleanly leaves no trace of its own.
    let mut screen = world.command(&["events", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(screen.stdout.take().unwrap()).lines();
    said.next().unwrap().unwrap();
    let reader = std::thread::spawn(move || said.count());
    for window in &mut windows {
        if window.end == End::Backgrounded {
            std::thread::sleep(APART);
        }
        window.end((&world, program));
    }
    assert_eq!(world.run(&["ls"]).code, 0);
    std::thread::sleep(SETTLED);
    screen.kill().unwrap();
    screen.wait().unwrap();
    reader.join().unwrap();
    let answer = world.run(&["leftovers", "--json"]);
    eprintln!("{}", world.run(&["leftovers"]).out);
    let report: Value = serde_json::from_str(&answer.out).unwrap();
    let now = processes();
    let survivors = |window: &Window| -> BTreeSet<u32> {
        let survivors =
            window.started.iter().filter(|(pid, argv)| now.get(pid).is_some_and(|(_, is)| is == *argv));
        survivors.map(|(pid, _)| *pid).collect()
    };
    compare(&windows, survivors, &report);
    for window in &windows {
        let survivors = survivors(window);
        let expected = match window.end {
            End::No | End::Backgrounded => BTreeSet::new(),
            End::Exit | End::Closed | End::Killed | End::GroupKilled | End::Resumed => survivors.clone(),
        };
        eprintln!(
            "{:?}: {} started, {} live, port {}",
            window.end,
            window.started.len(),
            survivors.len(),
            window.port
        );
        assert_eq!(told(&report, window.pid), expected, "{:?} {:?}", window.end, window.started);
    }
}
