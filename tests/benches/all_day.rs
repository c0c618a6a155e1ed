//! The cost of leaving the screen open, and how soon it shows changes; against htop, btop, bottom, abtop and cctop if
//! they are installed. All in one run, each on a terminal of 200x50 of its own.
//!
//! With `CLAIMTOP_MONITORS=1` cargo first installs the last three below `target/monitors`.

use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::stage::{Screen, World, ms, spread};

/// How long a program may take to start and to settle, and how long it is measured at rest.
const START: Duration = Duration::from_secs(2);
const SETTLE: Duration = Duration::from_secs(15);
const REST: Duration = Duration::from_secs(20);
const ROUNDS: usize = 60;
/// How long to rest before a delay is measured, so that the machine is equally idle each time.
const QUIET: Duration = Duration::from_millis(500);

/// Runs a program with an empty home: cctop writes hooks into the settings of agents that it finds there.
const IN_EMPTY_HOME: &str =
    r#"exec 3<"$(command -v "$0")" && mount -t tmpfs none "$HOME" && exec /proc/self/fd/3"#;

/// Another monitor that is measured at rest.
struct Monitor {
    name: &'static str,
    /// The crate that contains it.
    package: Option<&'static str>,
    /// The keys after its start.
    typed: &'static str,
}

const MONITORS: [Monitor; 5] = [
    Monitor { name: "htop", package: None, typed: "" },
    Monitor { name: "btop", package: None, typed: "" },
    Monitor { name: "btm", package: Some("bottom"), typed: "" },
    Monitor { name: "abtop", package: Some("abtop"), typed: "" },
    // It asks whether to write into the shell's start file, too.
    Monitor { name: "cctop", package: Some("cctop"), typed: "n\r" },
];

impl Monitor {
    fn command(&self) -> Option<CommandBuilder> {
        let program = program(self.name)?;
        if self.package.is_none() {
            return Some(CommandBuilder::new(program));
        }
        let mut command = CommandBuilder::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", IN_EMPTY_HOME]);
        command.arg(program);
        Some(command)
    }
}

/// Runs the benchmark, or the named part of it.
pub(crate) fn bench(only: Option<&str>) {
    if std::env::var_os("CLAIMTOP_MONITORS").is_some_and(|value| value == "1") {
        MONITORS.iter().filter_map(|monitor| monitor.package).for_each(install);
    }
    let is_wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    if is_wanted("rest") {
        [200, 2_000].into_iter().for_each(at_rest);
    }
    if is_wanted("delay") {
        delays();
    }
    if is_wanted("storm") {
        storm();
    }
    if is_wanted("records") {
        records();
    }
}

fn at_rest(processes: usize) {
    let world = World::new();
    let mut sleepers: Vec<Child> = (0..processes)
        .map(|_| Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap())
        .collect();
    println!("at rest for {} s beside {processes} processes:", REST.as_secs());
    let mut htop = f64::NAN;
    let others = MONITORS.iter().map(|monitor| (monitor.name, monitor.command(), monitor.typed));
    for (name, command, typed) in others.chain([("claimtop", Some(world.claimtop()), "")]) {
        let Some(command) = command else {
            println!("  {name:9} is not installed");
            continue;
        };
        let mut screen = Screen::open(command);
        screen.outputs(START);
        screen.master.take_writer().unwrap().write_all(typed.as_bytes()).unwrap();
        screen.outputs(SETTLE);
        if screen.has_ended() {
            println!("  {name:9} has ended by itself");
            continue;
        }
        let before = screen.spent();
        screen.outputs(REST);
        let after = screen.spent();
        let cpu = (after.0 - before.0) / REST.as_secs_f64() / 10.0;
        let sleeps = (after.1 - before.1) / REST.as_secs_f64();
        htop = if name == "htop" { cpu } else { htop };
        let rss = screen.resident_mib();
        println!(
            "  {name:9} {cpu:7.4} % CPU, 1/{:.0} of htop; {sleeps:6.2} wake-ups/s; {rss:.1} MiB",
            htop / cpu
        );
    }
    for sleeper in &mut sleepers {
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}

/// The folder into which cargo installs the other monitors.
fn monitors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/monitors")
}

/// Installs the programs of a package with cargo; if that fails, the others are measured.
fn install(package: &str) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["install", "--locked", "--root"]).arg(monitors()).arg(package).stdin(Stdio::null());
    if !command.status().is_ok_and(|status| status.success()) {
        println!("{package} could not be installed");
    }
}

/// Returns the path of a program: among those installed for this, or from the shell's path.
fn program(name: &str) -> Option<PathBuf> {
    let own = monitors().join("bin").join(name);
    if own.exists() {
        return Some(own);
    }
    let found = Command::new("sh").args(["-c", "command -v \"$0\"", name]).output().unwrap();
    found.status.success().then(|| PathBuf::from(name))
}

fn delays() {
    let world = World::new();
    let mut screen = Screen::open(world.claimtop());
    let [mut killed, mut judged, mut written, mut floor] = [(); 4].map(|()| Vec::new());
    screen.until(|picture| picture.contains("quit"));
    // The view of windows shows their processes.
    screen.master.take_writer().unwrap().write_all(b"2").unwrap();
    for _ in 0..ROUNDS {
        let mut agent = world.agent();
        let pid = agent.id().to_string();
        world.register(agent.id(), "idle");
        screen.until(|picture| picture.contains(&pid) && picture.contains("idle"));
        // A look right after another one is delayed a little; a person's windows are not written all the time.
        std::thread::sleep(QUIET);
        let since = Instant::now();
        world.register(agent.id(), "busy");
        written.push(ms(since, screen.until(|picture| picture.contains("busy"))));
        std::thread::sleep(QUIET);
        let since = Instant::now();
        agent.kill().unwrap();
        let is_judged = |picture: &str| picture.contains("0 windows");
        killed.push(ms(since, screen.until(|picture| picture.contains("exited") || is_judged(picture))));
        judged.push(ms(since, screen.until(is_judged)));
        agent.wait().unwrap();
        floor.push(bare_ms(world.agent()));
    }
    println!("delays, {ROUNDS} rounds:");
    let [floor] = [spread("  a bare pidfd tells a death", &mut floor)];
    let killed = spread("  holder killed -> cells change", &mut killed);
    println!("    {:.1} times the bare pidfd", killed / floor);
    spread("  holder killed -> what that means", &mut judged);
    spread("  session file written -> cells change", &mut written);
}

fn bare_ms(mut agent: Child) -> f64 {
    let pid = Pid::from_raw(agent.id().cast_signed()).unwrap();
    let fd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
    let waiting = std::thread::spawn(move || {
        let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)];
        poll(&mut fds, None).unwrap();
        Instant::now()
    });
    std::thread::sleep(QUIET);
    let since = Instant::now();
    kill_process(pid, Signal::KILL).unwrap();
    let at = waiting.join().unwrap();
    agent.wait().unwrap();
    ms(since, at)
}

fn storm() {
    const EVERY: Duration = Duration::from_micros(100);
    let world = World::new();
    let mut agent = world.agent();
    let screen = Screen::open(world.claimtop());
    screen.outputs(Duration::from_secs(2));
    let before = screen.spent();
    let (start, mut count) = (Instant::now(), 0_u32);
    while start.elapsed() < Duration::from_secs(10) {
        world.register(agent.id(), if count.is_multiple_of(2) { "idle" } else { "busy" });
        count += 1;
        // A sleep can take a millisecond, however short it is meant to be.
        let ahead = (EVERY * count).saturating_sub(start.elapsed());
        if ahead > Duration::from_millis(2) {
            std::thread::sleep(ahead);
        }
    }
    let took = start.elapsed().as_secs_f64();
    let after = screen.spent();
    let frames = screen.outputs(Duration::ZERO) as f64;
    let cpu = (after.0 - before.0) / took / 10.0;
    println!(
        "storm of {:.0} writes/s for {took:.0} s: {cpu:.1} % CPU, {:.1} frames/s",
        f64::from(count) / took,
        frames / took
    );
    agent.kill().unwrap();
    agent.wait().unwrap();
}

fn records() {
    let world = World::new();
    let empty = {
        let screen = Screen::open(world.claimtop());
        screen.outputs(Duration::from_secs(2));
        screen.resident_mib()
    };
    for number in 0..10_000 {
        let text = format!(
            r#"{{"current_agent":"sre_agent","session_start":"2026-11-20T21:40:34.370794","created_by":"x","version":"1.5","n":{number}}}"#
        );
        std::fs::write(
            world.path(&format!("home/.maia/sessions/swarm_session_{}.json", 100_000 + number)),
            text,
        )
        .unwrap();
    }
    let screen = Screen::open(world.claimtop());
    screen.outputs(Duration::from_secs(4));
    let full = screen.resident_mib();
    screen.master.take_writer().unwrap().write_all(b"3").unwrap();
    screen.outputs(Duration::from_secs(2));
    let listed = screen.resident_mib();
    println!(
        "memory: {empty:.1} MiB empty, {full:.1} MiB with 10,000 records: {:.1} MiB for them, \
         {:.1} MiB when they are listed",
        full - empty,
        listed - empty
    );
}
