//! The cost per look of finding processes that dead windows have left running: 2,000 processes, of which a hundred
//! were left by their starters, twenty of these by a dead window; against looks for a person whose home none of them
//! has.

use std::io::Read;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use claimtop::core::assess::Policy;
use claimtop::core::judge::window::agent::Signatures;
use claimtop::observe::{Observer, Options};
use claimtop::source::places::Places;
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

use crate::stage::{World, median};

const PROCESSES: usize = 2_000;
const ORPHANS: usize = 100;
const LEFT: usize = 20;
const ROUNDS: usize = 41;
const MEASURINGS: usize = 3;
/// How long the measurements of processes stay valid, and a little more.
const MEASURED_FOR: Duration = Duration::from_millis(30_200);

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    // The processes are the same for both, but have the home of one.
    let [theirs, other] = [World::new(), World::new()];
    let mut agent = theirs.agent();
    let sleepers: Vec<Child> = (0..PROCESSES - ORPHANS).map(|_| sleeper()).collect();
    let orphans = Orphans::new(&theirs, agent.id());
    // A process that is ten seconds old is settled: from then on only changes are read.
    std::thread::sleep(Duration::from_secs(11));
    [&theirs, &other].iter().for_each(|world| world.register(agent.id(), "busy"));
    agent.kill().unwrap();
    agent.wait().unwrap();

    let mut observers = [&other, &theirs].map(|world| Observer::new(options(world)));
    let left = observers.each_mut().map(|observer| {
        let report = observer.observe();
        report.left_overs.iter().filter(|one| one.is_left()).count()
    });
    let whole = looks(&mut observers, ROUNDS, Duration::ZERO);
    let watched = [&other, &theirs].map(|world| Observer::new(options(world)).watched());
    let [(one, _hints), (two, _others)] = watched;
    let mut observers = [one, two];
    observers.iter_mut().for_each(|observer| drop(observer.observe()));
    let again = looks(&mut observers, ROUNDS, Duration::ZERO);
    let measuring = looks(&mut observers, MEASURINGS, MEASURED_FOR);

    orphans.0.iter().for_each(|pid| kill_process(Pid::from_raw(*pid).unwrap(), Signal::KILL).unwrap());
    sleepers.into_iter().for_each(ended);
    assert_eq!(left, [0, LEFT]);
    println!(
        "{PROCESSES} processes, {ORPHANS} of them orphans, {LEFT} of a dead window, CPU time a look, \
         median of {ROUNDS}:"
    );
    tell("whole look", whole);
    tell("look again", again);
    tell("look again that measures", measuring);
}

/// Looks with one after the other, and returns the CPU time that each has taken.
fn looks(observers: &mut [Observer; 2], rounds: usize, rest: Duration) -> [f64; 2] {
    let pair = || {
        std::thread::sleep(rest);
        observers.each_mut().map(look)
    };
    let pairs: Vec<[f64; 2]> = std::iter::repeat_with(pair).take(rounds).collect();
    [0, 1].map(|at| median(&mut pairs.iter().map(|pair| pair[at]).collect::<Vec<f64>>()))
}

fn tell(name: &str, [without, with]: [f64; 2]) {
    let part = (with - without) / with * 100.0;
    println!("  {name:24} {without:6.2} ms without, {with:6.2} ms with: {part:4.1} % of it");
}

fn look(observer: &mut Observer) -> f64 {
    let before = spent();
    observer.observe();
    spent() - before
}

fn spent() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

fn options(world: &World) -> Options {
    let places = Places::new(world.path("home"), world.path("tmp"), Vec::new());
    Options { places, policy: Policy { signatures: Signatures::built_in().unwrap() }, ..Options::default() }
}

fn sleeper() -> Child {
    Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap()
}

fn ended(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Processes whose parent has ended, by their PIDs.
struct Orphans(Vec<i32>);

impl Orphans {
    /// Starts them: some with the variables of a window, which listen on a port and whose standard input has no writer
    /// any more, and others.
    fn new(world: &World, window: u32) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let left = shell(world, LEFT, |command| {
            let session = format!("95fe798d-3725-4649-974a-{window:012}");
            command.env("CLAUDE_PID", window.to_string()).env("CLAUDE_CODE_SESSION_ID", session);
            command.stdin(OwnedFd::from(UnixStream::pair().unwrap().0)).stderr(OwnedFd::from(listener));
        });
        let others = shell(world, ORPHANS - LEFT, |_| {});
        Self(left.into_iter().chain(others).collect())
    }
}

/// Lets a shell start this many processes and end; returns their PIDs.
fn shell(world: &World, count: usize, more: impl FnOnce(&mut Command)) -> Vec<i32> {
    let line = format!("for one in $(seq {count}); do sleep 600 <&0 >/dev/null & echo $!; done");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(world.path("home")).env("HOME", world.path("home"));
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    more(&mut command);
    let mut shell = command.spawn().unwrap();
    drop(command);
    let mut text = String::new();
    shell.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(shell.wait().unwrap().success());
    text.lines().map(|pid| pid.parse().unwrap()).collect()
}
