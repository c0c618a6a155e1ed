//! A long look at a world that never rests: descriptors do not grow, and memory does not drift.
//!
//! Two minutes by default; `CLAIMTOP_SOAK_SECONDS=3600` makes it an hour.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::alone;
use crate::program;
use crate::pty::{Screen, claimtop};

/// The most rounds; each waits until the screen has caught up.
const MOST_ROUNDS: usize = 100_000;
/// The most drift of memory after the first quarter, in KiB: 1 MiB.
const DRIFT: u64 = 1_024;
/// The shortest warm-up, in seconds: until then the ring of changes fills.
const WARM_UP: i64 = 60;

/// A home, a temporary folder and a stand-in for an agent.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for below in ["home/.claude/sessions", "home/.maia/sessions", "tmp", "bin/@anthropic-ai/claude-code"]
        {
            std::fs::create_dir_all(world.path(below)).unwrap();
        }
        program::copy("/bin/sleep", world.path("bin/@anthropic-ai/claude-code/claude"));
        world
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn screen(&self) -> Screen {
        let text = |below: &str| self.path(below).to_string_lossy().into_owned();
        let arguments = ["--home".to_owned(), text("home"), "--tmp".to_owned(), text("tmp")];
        Screen::start(claimtop(&arguments), 120, 40)
    }

    fn agent(&self) -> Child {
        let program = self.path("bin/@anthropic-ai/claude-code/claude");
        program::spawn(Command::new(program).arg("600").env("HOME", self.path("home")).stdin(Stdio::null()))
    }

    fn register(&self, pid: u32) -> PathBuf {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
        let path = self.path(&format!("home/.claude/sessions/{pid}.json"));
        let text = format!(
            r#"{{"pid":{pid},"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"{start}","name":"soaked-{pid}"}}"#
        );
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The program's descriptors and memory.
#[derive(Clone, Copy, Debug)]
struct Held {
    descriptors: usize,
    resident_kib: u64,
}

fn held(screen: &Screen) -> Held {
    let process = Path::new("/proc").join(screen.child.process_id().unwrap().to_string());
    let status = std::fs::read_to_string(process.join("status")).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    Held {
        descriptors: std::fs::read_dir(process.join("fd")).unwrap().count(),
        resident_kib: resident.trim().trim_end_matches(" kB").trim().parse().unwrap(),
    }
}

/// One round: an agent comes, writes, is seen, goes, and its file goes too.
fn round(world: &World, screen: &mut Screen) {
    let mut agent = world.agent();
    let name = format!("soaked-{}", agent.id());
    let path = world.register(agent.id());
    let late = world.path("home/.maia/checkpoints").join(&name);
    std::fs::create_dir_all(&late).unwrap();
    screen.wait_for(&name);
    agent.kill().unwrap();
    agent.wait().unwrap();
    std::fs::remove_file(path).unwrap();
    std::fs::remove_dir_all(late).unwrap();
    // A death stays visible until a person has seen it.
    screen.wait_for("died");
    screen.press("a");
    screen.wait_until("an end of the record", |screen| !screen.shows(&name));
    // Every byte is kept for tests that need it; this one would keep an hour of them.
    screen.written.clear();
}

#[test]
fn a_world_that_never_rests_costs_nothing_that_stays() {
    let _alone = alone();
    let seconds = std::env::var("CLAIMTOP_SOAK_SECONDS").map_or(120, |text| text.parse().unwrap());
    let world = World::new();
    let mut screen = world.screen();
    screen.wait_for("claimtop");
    let started = jiff::Timestamp::now();
    let (mut first, mut rounds) = (None, 0);
    while rounds < MOST_ROUNDS {
        round(&world, &mut screen);
        rounds += 1;
        let spent = jiff::Timestamp::now().duration_since(started).as_secs();
        if spent * 4 >= seconds && spent >= WARM_UP {
            first.get_or_insert_with(|| held(&screen));
        }
        if spent >= seconds {
            break;
        }
    }
    let (first, last) = (first.unwrap(), held(&screen));
    eprintln!("{rounds} rounds in {seconds} s: {first:?}, then {last:?}");
    // Windows of the machine itself may come and go meanwhile.
    assert!(last.descriptors <= first.descriptors + 4 && rounds > 4, "descriptors grew: {first:?} {last:?}");
    assert!(last.resident_kib <= first.resident_kib + DRIFT, "memory drifted: {first:?} {last:?}");
    assert_eq!(screen.end(), 0);
}
