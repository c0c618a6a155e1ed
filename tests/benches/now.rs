//! The cost of showing each window's work: from the start to the first frame with content, from a line in a transcript
//! to the cells, six windows that stream, huge transcripts, memory.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use portable_pty::CommandBuilder;

use crate::stage::{Screen, World, median, ms, spread};

const STARTS: usize = 15;
const APPENDS: usize = 100;
/// How long to rest before a line.
const QUIET: Duration = Duration::from_millis(500);
const STREAMED: Duration = Duration::from_secs(20);
/// The age from which a process no longer counts as just begun.
const SETTLED: Duration = Duration::from_secs(12);
/// The time between two lines of a window that streams.
const LINE: Duration = Duration::from_millis(50);
const HUGE: u64 = 600 << 20;

/// Runs the benchmark, or the named part of it.
pub(crate) fn bench(only: Option<&str>) {
    let is_wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    if is_wanted("frame") {
        first_frames(200, 0);
        first_frames(2_000, 1_000);
    }
    if is_wanted("append") {
        appends();
    }
    if is_wanted("stream") {
        stream();
    }
    if is_wanted("huge") {
        huge();
    }
    if is_wanted("memory") {
        memory();
    }
}

/// Windows with a registry entry and a transcript each.
struct Windows {
    world: World,
    agents: Vec<Child>,
}

impl Windows {
    fn new(count: usize) -> Self {
        let world = World::new();
        let agents: Vec<Child> = (0..count).map(|_| world.agent()).collect();
        // The stand-in is recognized by its program, which it has after its exec.
        std::thread::sleep(Duration::from_millis(100));
        agents.iter().for_each(|agent| world.register(agent.id(), "busy"));
        Self { world, agents }
    }

    fn transcript(&self, agent: &Child) -> PathBuf {
        let folder = self.world.path("home/.claude/projects/p");
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(format!("95fe798d-3725-4649-974a-{:012}.jsonl", agent.id()))
    }

    /// Writes a prompt, some edits and an open call to each transcript, from this byte on.
    fn write(&self, from: u64) {
        for agent in &self.agents {
            let mut file = File::create(self.transcript(agent)).unwrap();
            file.seek(SeekFrom::Start(from)).unwrap();
            let start = if from > 0 { "\n" } else { "" };
            let edits: String = (0..50).map(|number| edited(&format!("/src/{number}.rs"))).collect();
            let text =
                format!("{start}{}{}{edits}{}", prompt("Make it faster"), snapshot(), called("cargo bench"));
            file.write_all(text.as_bytes()).unwrap();
        }
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            agent.kill().unwrap();
            agent.wait().unwrap();
        }
    }
}

fn prompt(text: &str) -> String {
    let now = Timestamp::now();
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":"{text}"}},"origin":{{"kind":"human"}},"permissionMode":"default","cwd":"/src","version":"2.1.330","timestamp":"{now}"}}"#
    ) + "\n"
}

fn snapshot() -> String {
    r#"{"type":"file-history-snapshot","snapshot":{"trackedFileBackups":{}}}"#.to_owned() + "\n"
}

fn edited(path: &str) -> String {
    let now = Timestamp::now();
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t"}}]}},"toolUseResult":{{"filePath":"{path}","structuredPatch":[]}},"cwd":"/src","timestamp":"{now}"}}"#
    ) + "\n"
}

fn called(command: &str) -> String {
    let now = Timestamp::now();
    format!(
        r#"{{"type":"assistant","message":{{"model":"claude-opus-5-5","usage":{{"input_tokens":1200,"cache_read_input_tokens":41000}},"content":[{{"type":"tool_use","id":"t","name":"Bash","input":{{"command":"{command}"}}}}]}},"cwd":"/src","timestamp":"{now}"}}"#
    ) + "\n"
}

fn append(path: &Path, line: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
}

/// From the start to the first frame with content, on a terminal of 200x50.
fn first_frames(processes: usize, records: usize) {
    let windows = Windows::new(6);
    windows.write(0);
    let world = &windows.world;
    for number in 0..records {
        let text = format!(r#"{{"current_agent":"a","session_start":"2026-11-20T21:40:34","n":{number}}}"#);
        let path = world.path(&format!("home/.maia/sessions/swarm_session_{}.json", 100_000 + number));
        std::fs::write(path, text).unwrap();
    }
    let sleep = || Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    let mut sleepers: Vec<Child> = (0..processes).map(|_| sleep()).collect();
    // On a user's machine nearly all of them have been running for a while.
    std::thread::sleep(SETTLED);
    println!(
        "start to the first frame with content, {processes} processes, {records} records, median of {STARTS}:"
    );
    let programs: [(&str, &dyn Fn() -> CommandBuilder, &str); 3] = [
        ("claimtop", &|| world.claimtop(), "cargo bench"),
        ("htop", &|| CommandBuilder::new("htop"), "Quit"),
        ("btop", &|| CommandBuilder::new("btop"), "Pid"),
    ];
    let mut ours = f64::NAN;
    for (name, command, content) in programs {
        let time = || {
            let start = Instant::now();
            let mut screen = Screen::open(command());
            ms(start, screen.until(|picture| picture.contains(content)))
        };
        let took = median(&mut (0..STARTS).map(|_| time()).collect::<Vec<f64>>());
        ours = if name == "claimtop" { took } else { ours };
        println!("  {name:9} {took:7.1} ms; claimtop takes {:.2} of it", ours / took);
    }
    for sleeper in &mut sleepers {
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}

/// From a line in a transcript to the cells that show it.
fn appends() {
    let windows = Windows::new(6);
    windows.write(0);
    let path = windows.transcript(&windows.agents[0]);
    let mut screen = Screen::open(windows.world.claimtop());
    screen.until(|picture| picture.contains("cargo bench"));
    let mut times: Vec<f64> = (0..APPENDS)
        .map(|number| {
            screen.outputs(QUIET);
            let command = format!("make part-{number}.");
            let since = Instant::now();
            append(&path, &called(&command));
            ms(since, screen.until(|picture| picture.contains(&command)))
        })
        .collect();
    spread("a line in a transcript -> cells change", &mut times);
}

/// Six windows that write 20 lines a second each.
fn stream() {
    let windows = Windows::new(6);
    windows.write(0);
    let screen = Screen::open(windows.world.claimtop());
    screen.outputs(Duration::from_secs(5));
    let cost = |during: &dyn Fn()| {
        let (before, start) = (screen.spent().0, Instant::now());
        during();
        (screen.spent().0 - before) / start.elapsed().as_secs_f64() / 10.0
    };
    let rest = cost(&|| {
        screen.outputs(STREAMED);
    });
    let paths: Vec<PathBuf> = windows.agents.iter().map(|agent| windows.transcript(agent)).collect();
    let line = called("cargo test");
    let streamed = cost(&|| {
        let start = Instant::now();
        for step in 1.. {
            paths.iter().for_each(|path| append(path, &line));
            if start.elapsed() > STREAMED {
                break;
            }
            std::thread::sleep((LINE * step).saturating_sub(start.elapsed()));
        }
    });
    println!("six windows: at rest {rest:.2} % of a core; each with 20 lines a second {streamed:.2} %");
}

/// The first look at six transcripts of 600 MB. Everything before their ends is a hole.
fn huge() {
    let windows = Windows::new(6);
    let look = || {
        let start = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        for (option, folder) in [("--home", "home"), ("--tmp", "tmp")] {
            command.arg(option).arg(windows.world.path(folder));
        }
        let output = command.args(["now", "--json"]).output().unwrap();
        assert!(output.status.success());
        ms(start, Instant::now())
    };
    let looks = || median(&mut (0..STARTS * 2).map(|_| look()).collect::<Vec<f64>>());
    let without = looks();
    windows.write(0);
    let small = looks();
    windows.write(HUGE);
    let huge = looks();
    println!(
        "one look at six windows: {without:.1} ms without transcripts, {small:.1} ms with small ones, \
         {huge:.1} ms with 600 MB each: {:+.1} ms",
        huge - without
    );
}

fn memory() {
    const WINDOWS: usize = 50;
    let windows = Windows::new(WINDOWS);
    let resident = || {
        let screen = Screen::open(windows.world.claimtop());
        screen.outputs(Duration::from_secs(3));
        screen.resident_mib() * 1_024.0
    };
    let without = resident();
    windows.write(0);
    let with = resident();
    println!(
        "memory: {without:.0} KiB with {WINDOWS} windows, {with:.0} KiB with what they do and 50 edits each: \
         {:.0} KiB a window",
        (with - without) / WINDOWS as f64
    );
}
