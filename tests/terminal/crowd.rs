//! One window among thousands of processes.
//!
//! 3,000 by default; `CLAIMTOP_CROWD=10000` makes it as many as issue 6 asks for.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::pty::Screen;
use crate::world::World;

/// What a debug build may hold beside 10,000 processes, in KiB: 64 MiB.
const MOST_KIB: u64 = 64 << 10;
/// How many descriptors it may hold: nobody of the crowd matters.
const MOST_DESCRIPTORS: usize = 64;

/// Starts this many sleepers, says so, and ends them when its input does. They are a process group
/// of their own, and hear the signal that the shell itself bears.
const CROWD: &str = "trap : TERM; i=0; while [ $i -lt $0 ]; do sleep 3600 & i=$((i+1)); done; \
                     echo ready; read end; kill -TERM 0; wait; wait; exit 0";

struct Crowd(Child);

impl Crowd {
    /// Starts them; `None` where the system does not allow as many.
    fn start(many: usize) -> Option<Self> {
        let most: usize =
            std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap().trim().parse().unwrap();
        if many + 2_000 > most {
            return None;
        }
        let mut shell = Command::new("/bin/sh")
            .args(["-c", CROWD, &many.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let said = BufReader::new(shell.stdout.take().unwrap()).lines().next();
        let crowd = Self(shell);
        said.is_some_and(|line| line.unwrap() == "ready").then_some(crowd)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        let _ = self.0.stdin.take().unwrap().write_all(b"end\n");
        let _ = self.0.wait();
    }
}

/// Returns how much memory the program has held at most, in KiB, and how many descriptors it has.
fn held(screen: &Screen) -> (u64, usize) {
    let process = Path::new("/proc").join(screen.child.process_id().unwrap().to_string());
    let status = std::fs::read_to_string(process.join("status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
    (peak, std::fs::read_dir(process.join("fd")).unwrap().count())
}

#[test]
fn a_window_among_thousands_of_processes_is_seen_and_followed() {
    let many = std::env::var("CLAIMTOP_CROWD").map_or(3_000, |text| text.parse().unwrap());
    let Some(crowd) = Crowd::start(many) else {
        return eprintln!("skipped: {many} processes are not allowed here");
    };
    let world = World::new();
    let mut screen = world.open(160, 40);
    let mut agent = world.agent();
    world.register(agent.id(), "in_the_crowd");
    screen.press("1");
    screen.wait_for("in_the_crowd");
    screen.press("3");
    screen.wait_for("held");
    agent.end();
    screen.wait_until("a dead claim", |screen| screen.shows("dead") && !screen.shows("held"));
    let (peak, descriptors) = held(&screen);
    eprintln!("{many} processes: at most {peak} KiB, {descriptors} descriptors");
    assert!(peak < MOST_KIB, "{peak} KiB");
    assert!(descriptors < MOST_DESCRIPTORS, "{descriptors} descriptors");
    assert_eq!(screen.end(), 0);
    drop(crowd);
}
