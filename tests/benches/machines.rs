//! The cost of other machines: how soon a death there, a refusal and a silence are shown; fifty machines at rest and
//! in a storm; memory; a key meanwhile.
//!
//! Fifty whole claimtops would measure themselves. Instead, stand-ins repeat one claimtop's report of twenty windows,
//! line by line, each as another machine; they answer beats as it does.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::stage::{Screen, World, ms, settle, spread, table_rows};

const MACHINES: usize = 50;
const WINDOWS: usize = 20;
/// How many programs run on this machine meanwhile.
const PROGRAMS: usize = 200;
const DEATHS: usize = 25;
const KEYS: usize = 60;
const QUIET: Duration = Duration::from_millis(500);
const SETTLE: Duration = Duration::from_secs(15);
const MEASURED: Duration = Duration::from_secs(20);
/// The time between two changes of a machine in a storm.
const CHANGE: Duration = Duration::from_millis(100);
/// The start of every session ID of the recorded windows.
const SESSION: &str = "95fe798d";
/// The separator between two looks in the file of a stand-in.
const NEXT: &str = "next";

/// Runs the benchmark, or the named part of it.
pub(crate) fn bench(only: Option<&str>) {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, _, what, said, storms, ..] = arguments.as_slice()
        && what == "stand-in"
    {
        return stand_in(Path::new(said), storms == "storms");
    }
    let is_wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    if is_wanted("deaths") {
        deaths();
    }
    let said = Said::by_a_claimtop();
    if is_wanted("lost") {
        lost(&said);
    }
    if is_wanted("rest") {
        at_rest(&said);
    }
    if is_wanted("storm") {
        storm(&said);
    }
}

/// Sends the contents of a file, and then, in turn, the differences; answers beats.
fn stand_in(said: &Path, storms: bool) {
    let text = std::fs::read_to_string(said).unwrap();
    let looks: Vec<&str> = text.split(&format!("{NEXT}\n")).collect();
    let say = |lines: &str| {
        let mut output = stdout().lock();
        output.write_all(lines.as_bytes()).and_then(|()| output.flush()).is_ok()
    };
    assert!(say(looks[0]));
    if storms {
        let changes: Vec<String> = looks[1..].iter().map(|look| (*look).to_owned()).collect();
        std::thread::spawn(move || {
            let (start, mut count) = (Instant::now(), 0);
            while say(&changes[count as usize % changes.len()]) {
                count += 1;
                std::thread::sleep((CHANGE * count).saturating_sub(start.elapsed()));
            }
        });
    }
    for line in stdin().lock().lines() {
        // An answer repeats the question.
        if !say(&format!("{}\n", line.unwrap())) {
            return;
        }
    }
}

/// A claimtop's report of its windows.
struct Said {
    /// The whole report, and then the differences, change by change; the last restores the first state.
    looks: Vec<String>,
}

impl Said {
    /// Lets a claimtop report twenty windows at rest, and counts its lines meanwhile, and their changes.
    fn by_a_claimtop() -> Self {
        let world = World::new();
        let agent = |number: usize| {
            // Each works in a repository of its own: nothing collides.
            let folder = world.path(&format!("work-{number}"));
            for below in ["objects", "refs/heads"] {
                std::fs::create_dir_all(folder.join(".git").join(below)).unwrap();
            }
            std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            let mut agent = Command::new(world.path("bin/@anthropic-ai/claude-code/claude"));
            agent.arg("600").current_dir(folder).stdin(Stdio::null()).spawn().unwrap()
        };
        let mut agents: Vec<Child> = (0..WINDOWS).map(agent).collect();
        std::thread::sleep(QUIET);
        let register = |agent: &Child, status: &str| world.register(agent.id(), status);
        agents.iter().for_each(|agent| register(agent, "busy"));
        let mut far = Far::start(&world);
        let mut looks = vec![far.until(|all| all.matches("\"busy\"").count() >= WINDOWS)];
        println!("a machine of {WINDOWS} windows: {} bytes at first", looks[0].len());
        looks[0] += &far.during(SETTLE);
        let at_rest = far.during(MEASURED).len() as f64 / MEASURED.as_secs_f64();
        println!("  at rest {at_rest:.1} bytes/s with its beats (wanted: at most 100)");
        for agent in agents.iter().take(5) {
            for status in ["idle", "busy"] {
                register(agent, status);
                let told = format!("\"{status}\"");
                looks.push(far.until(|said| said.contains("\"window\"") && said.contains(&told)));
            }
        }
        let changed: usize = looks[1..].iter().map(String::len).sum();
        println!("  a change is {} bytes", changed / (looks.len() - 1));
        for agent in &mut agents {
            agent.kill().unwrap();
            agent.wait().unwrap();
        }
        Self { looks }
    }

    /// Writes it as another machine's report: its windows have sessions of their own.
    fn of(&self, number: usize) -> String {
        let mut text = String::new();
        for (at, look) in self.looks.iter().enumerate() {
            if at > 0 {
                writeln!(text, "{NEXT}").unwrap();
            }
            for line in look.replace(SESSION, &format!("{number:08x}")).lines() {
                let mut line: Value = serde_json::from_str(line).unwrap();
                if let Some(hello) = line.get_mut("hello") {
                    for name in ["machine", "store", "boot", "host"] {
                        hello[name] = format!("{name}-{number}").into();
                    }
                }
                writeln!(text, "{line}").unwrap();
            }
        }
        text
    }
}

/// A claimtop that reports its machine, and is asked for a sign of life as from elsewhere.
struct Far {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Far {
    fn start(world: &World) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        command.arg("--home").arg(world.path("home")).arg("--tmp").arg(world.path("tmp"));
        let mut child = command.arg("stream").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = std::sync::mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        let read = move |output: BufReader<ChildStdout>| {
            output.lines().map_while(Result::ok).all(|line| sender.send(line + "\n").is_ok())
        };
        std::thread::spawn(move || read(output));
        let mut asks = child.stdin.take().unwrap();
        std::thread::spawn(move || {
            let mut number = 0;
            while writeln!(asks, "{{\"beat\":{{\"number\":{number}}}}}").is_ok() {
                number += 1;
                std::thread::sleep(Duration::from_secs(5));
            }
        });
        Self { child, lines }
    }

    /// Returns its output until the end of a look for which `is_so` holds; without beats.
    fn until(&mut self, is_so: impl Fn(&str) -> bool) -> String {
        let mut all = String::new();
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(30)).expect("a line");
            if line.starts_with("{\"beat") {
                continue;
            }
            all.push_str(&line);
            if line.starts_with("{\"look") && is_so(&all) {
                return all;
            }
        }
    }

    fn during(&mut self, time: Duration) -> String {
        let (end, mut all) = (Instant::now() + time, String::new());
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            all.push_str(&line);
        }
        all
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Writes a configuration of these machines, each with a name and the words of its command.
fn configure(world: &World, machines: &[(String, Vec<String>)]) {
    let mut config = String::new();
    for (name, words) in machines {
        writeln!(config, "[[machine]]\nname = {name:?}\ncommand = {words:?}\npath = '/claimtop'").unwrap();
    }
    let folder = world.path("home/.config/claimtop");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), config).unwrap();
}

/// Prepares this many stand-ins.
fn stand_ins(world: &World, said: &Said, count: usize, how: &str) {
    let own = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let machines = (0..count).map(|number| {
        let path = world.path(&format!("said-{number}"));
        std::fs::write(&path, said.of(number)).unwrap();
        let path = path.to_str().unwrap().to_owned();
        (format!("m{number:02}"), [&own, "machines", "stand-in", &path, how].map(str::to_owned).to_vec())
    });
    configure(world, &machines.collect::<Vec<_>>());
}

/// Returns the PIDs of the screen's stand-ins.
fn children(screen: &Screen) -> Vec<Pid> {
    let path = format!("/proc/{0}/task", screen.pid());
    let tasks = std::fs::read_dir(path).unwrap();
    let of_task = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).ok();
    let all: String = tasks.filter_map(|task| of_task(task.unwrap())).collect();
    all.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().unwrap())).collect()
}

/// Begins a machine of namespaces with windows that register themselves.
const BEGIN: &str = r#"
base=$1; agent=$2; count=$3; shift 3
mkdir -p $base/far/.claude/sessions $base/far-tmp
for at in $(seq $count); do
  $agent 3600 & pid=$!
  start=$(cut -d')' -f2 /proc/$pid/stat | awk '{print $20}')
  printf '{"pid":%d,"sessionId":"95fe798d-3725-4649-974a-%012d","cwd":"/","procStart":"%s","startedAt":1,"kind":"interactive","name":"far-%05d","status":"busy"}' \
    $pid $pid $start $pid > $base/far/.claude/sessions/$pid.json
done
exec $CLAIMTOP --home $base/far --tmp $base/far-tmp stream
"#;

fn deaths() {
    let world = World::new();
    let begin = world.path("begin.sh");
    std::fs::write(&begin, BEGIN.replace("$CLAIMTOP", env!("CARGO_BIN_EXE_claimtop"))).unwrap();
    let base = world.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let agent = world.path("bin/@anthropic-ai/claude-code/claude").to_str().unwrap().to_owned();
    let namespaces = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"];
    let words = namespaces.into_iter().chain(["sh", begin.to_str().unwrap(), &base, &agent]);
    let words = words.map(str::to_owned).chain([(DEATHS + 5).to_string()]).collect();
    configure(&world, &[("far".to_owned(), words)]);
    let mut screen = Screen::open(world.claimtop());
    screen.until(|picture| picture.contains("quit"));
    screen.master.take_writer().unwrap().write_all(b"2/far-\r").unwrap();
    screen.until(|picture| table_rows(picture).filter(|row| is_live(row)).count() == DEATHS + 5);
    settle(&mut screen, Duration::from_secs(3));
    let mut times = Vec::new();
    for _ in 0..DEATHS {
        let picture = screen.picture.screen().contents();
        let live = table_rows(&picture).find(|row| is_live(row)).unwrap();
        let at = live.find("far-0").unwrap();
        let name = live[at..at + "far-00000".len()].to_owned();
        let pid = far_process(Path::new(&agent), name.trim_start_matches("far-").parse().unwrap());
        let since = Instant::now();
        kill_process(pid, Signal::KILL).unwrap();
        let lives = |row: &str| row.contains(&name) && is_live(row);
        times.push(ms(since, screen.until(|picture| !table_rows(picture).any(lives))));
        settle(&mut screen, QUIET);
    }
    spread("killed over there -> cells change here", &mut times);
}

fn is_live(row: &str) -> bool {
    row.contains("far-0") && (row.contains("working") || row.contains("your turn"))
}

/// Returns the process here that has a given number over there.
fn far_process(program: &Path, inner: u32) -> Pid {
    let found = std::fs::read_dir("/proc").unwrap().find_map(|entry| {
        let path = entry.ok()?.path();
        std::fs::read_link(path.join("exe")).ok().filter(|exe| exe == program)?;
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        let last: u32 = numbers.split_whitespace().last()?.parse().ok()?;
        (last == inner).then(|| path.file_name()?.to_str()?.parse().ok()).flatten()
    });
    Pid::from_raw(found.expect("a process")).unwrap()
}

fn lost(said: &Said) {
    let world = World::new();
    stand_ins(&world, said, 1, "rests");
    let mut screen = Screen::open(world.claimtop());
    screen.until(|picture| picture.contains("8 Machines"));
    screen.master.take_writer().unwrap().write_all(b"8").unwrap();
    screen.until(|picture| picture.contains("● live"));
    let pid = children(&screen)[0];
    let since = Instant::now();
    kill_process(pid, Signal::KILL).unwrap();
    let at = screen.until(|picture| picture.contains("? silent"));
    println!("one that closes is told after {:.3} s (wanted: at most 5 s)", ms(since, at) / 1e3);
    screen.until(|picture| picture.contains("● live"));
    std::thread::sleep(QUIET);
    let pid = children(&screen)[0];
    let since = Instant::now();
    kill_process(pid, Signal::STOP).unwrap();
    let at = screen.until(|picture| picture.contains("? silent"));
    println!("one that falls silent is told after {:.3} s (wanted: at most 15 s)", ms(since, at) / 1e3);
    configure(&world, &[("refuses".to_owned(), vec!["false".to_owned()])]);
    let since = Instant::now();
    let mut screen = Screen::open(world.claimtop());
    screen.until(|picture| picture.contains("8 Machines"));
    screen.master.take_writer().unwrap().write_all(b"8").unwrap();
    let at = screen.until(|picture| picture.contains("not reached") || picture.contains("unreached"));
    println!(
        "one that refuses is told after {:.3} s of the start (wanted: at most 5 s)",
        ms(since, at) / 1e3
    );
}

/// Programs that do nothing.
struct Programs(Vec<Child>);

impl Programs {
    fn start(count: usize) -> Self {
        let program = || Command::new("sleep").arg("900").stdin(Stdio::null()).spawn().unwrap();
        Self((0..count).map(|_| program()).collect())
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        for program in &mut self.0 {
            program.kill().unwrap();
            program.wait().unwrap();
        }
    }
}

/// Opens the screen and waits until it has this many machines.
fn with_machines(world: &World, count: usize) -> Screen {
    let mut screen = Screen::open(world.claimtop());
    if count > 0 {
        let all = format!("{} windows", count * WINDOWS);
        screen.until(|picture| picture.contains(&all));
    }
    screen
}

/// Measures how soon a key is answered.
fn keys(screen: &mut Screen, what: &str) {
    let mut writer = screen.master.take_writer().unwrap();
    let mut times = Vec::new();
    for round in 0..KEYS {
        let (key, shown) = if round % 2 == 0 { (b"?", true) } else { (b"\x1b", false) };
        let since = Instant::now();
        writer.write_all(key).unwrap();
        let is_help = |picture: &str| picture.contains("Keys") || picture.contains("Help");
        times.push(ms(since, screen.until(|picture| is_help(picture) == shown)));
        std::thread::sleep(QUIET / 5);
    }
    spread(what, &mut times);
}

/// Returns the CPU in % of one core and the outputs each second.
fn measured(screen: &Screen) -> (f64, f64) {
    let before = screen.spent().0;
    let outputs = screen.outputs(MEASURED) as f64;
    let seconds = MEASURED.as_secs_f64();
    ((screen.spent().0 - before) / seconds / 10.0, outputs / seconds)
}

fn at_rest(said: &Said) {
    // Beside at least the processes of a machine with twenty windows, for htop as for the screen.
    let _programs = Programs::start(PROGRAMS);
    let mut htop = CommandBuilder::new("htop");
    htop.env("TERM", "xterm-256color");
    let htop = Screen::open(htop);
    htop.outputs(SETTLE);
    let htop = measured(&htop).0;
    let alone = World::new();
    let mut screen = with_machines(&alone, 0);
    settle(&mut screen, SETTLE);
    let (cpu, before) = (measured(&screen).0, screen.resident_mib());
    println!("at rest, alone: {cpu:.4} % CPU, {before:.1} MiB");
    keys(&mut screen, "  a key, alone");
    drop(screen);
    let world = World::new();
    stand_ins(&world, said, MACHINES, "rests");
    let mut screen = with_machines(&world, MACHINES);
    settle(&mut screen, SETTLE);
    let (cpu, frames) = measured(&screen);
    let each = (screen.resident_mib() - before) * 1_024.0 / MACHINES as f64;
    println!(
        "at rest, {MACHINES} machines of {WINDOWS} windows, beside {PROGRAMS} programs: {cpu:.4} % CPU, 1/{:.0} of htop (wanted: 1/20); \
         {frames:.1} frames/s; {each:.0} KiB for each (wanted: 256)",
        htop / cpu
    );
    keys(&mut screen, "  a key, beside them");
}

fn storm(said: &Said) {
    let world = World::new();
    stand_ins(&world, said, MACHINES, "storms");
    let mut screen = with_machines(&world, MACHINES);
    settle(&mut screen, Duration::from_secs(5));
    let (cpu, frames) = measured(&screen);
    println!(
        "in a storm, {MACHINES} machines with {:.0} changes/s each: {cpu:.1} % CPU (wanted: 10), {frames:.1} frames/s \
         (wanted: at most 30)",
        1.0 / CHANGE.as_secs_f64()
    );
    keys(&mut screen, "  a key in the storm");
}
