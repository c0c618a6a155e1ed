//! The clock is set by an hour, forwards and backwards, while the screen is open.
//!
//! No test may set the machine's clock, so the program runs here, and the one place that reads the clock gets an
//! offset.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use claimtop::testing::source::{clock, make_pipe};
use portable_pty::CommandBuilder;

use crate::apart::is_apart;
use crate::pty::Screen;
use crate::terminal::world::{Agent, OWN_PROCESSES, World};

/// Set in the environment of the program whose clock is set; its arguments, one a line.
const VARIABLE: &str = "CLAIMTOP_TEST_CLOCK";
const PROGRAM: &str = "terminal::clock::the_program_whose_clock_is_set";
pub(crate) const HOUR: i64 = 3_600;

/// Does nothing except in the process that the tests below start.
#[test]
fn the_program_whose_clock_is_set() {
    let Ok(arguments) = std::env::var(VARIABLE) else { return };
    let mut arguments: Vec<OsString> = arguments.lines().map(OsString::from).collect();
    let pipe = PathBuf::from(arguments.remove(0));
    let setter = std::thread::Builder::new().name("setter".to_owned());
    setter
        .spawn(move || {
            // Waits until a test writes, and ends with the last text.
            while let Ok(text) = std::fs::read_to_string(&pipe) {
                clock::set_by(text.trim().parse().unwrap());
            }
        })
        .unwrap();
    std::process::exit(claimtop::cli::main(&arguments).into());
}

/// A world with a live agent, and a screen whose clock can be set.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) agent: Agent,
    pub(crate) screen: Screen,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let world = World::new();
        world.write("home/.config/claimtop/config.toml", "bell = true\nnotify = 'osc9'\n");
        let agent = world.agent();
        world.register(agent.id(), "registered");
        let text = format!(
            r#"{{"current_agent":"live_agent","session_start":"{}"}}"#,
            jiff::Timestamp::now().strftime("%FT%T.000000")
        );
        world.write(&format!("home/.maia/sessions/swarm_session_{}.json", agent.id()), &text);
        make_pipe(&world.path("clock")).unwrap();
        let mut screen = Screen::start(command(&world), 160, 40);
        screen.wait_for_sessions();
        screen.wait_for("live_agent");
        Self { world, agent, screen }
    }

    /// Sets the clock and waits for a look taken by it: one that shows what was written then.
    pub(crate) fn set_by(&mut self, seconds: i64, name: &str) {
        std::fs::write(self.world.path("clock"), seconds.to_string()).unwrap();
        let below = format!("home/.maia/sessions/swarm_session_{name}.json");
        self.world.write(&format!("{below}.new"), &format!(r#"{{"current_agent":"{name}"}}"#));
        let file = std::fs::File::options().write(true).open(self.world.path(&format!("{below}.new")));
        let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
        file.unwrap().set_modified(at.into()).unwrap();
        std::fs::rename(self.world.path(&format!("{below}.new")), self.world.path(&below)).unwrap();
        self.screen.wait_for(name);
    }

    pub(crate) fn end(self) {
        assert_eq!(self.screen.end(), 0);
    }
}

fn command(world: &World) -> CommandBuilder {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args([PROGRAM, "--exact", "--nocapture", "--test-threads=1"]);
    command.env_clear();
    command.env("TERM", "xterm-256color");
    let path = |below| world.path(below).to_string_lossy().into_owned();
    let lines =
        [path("clock"), "claimtop".into(), "--home".into(), path("home"), "--tmp".into(), path("tmp")];
    command.env(VARIABLE, lines.join("\n"));
    command
}

/// Returns the row of a record.
pub(crate) fn row(screen: &Screen, name: &str) -> String {
    let picture = screen.picture();
    let row = picture.lines().find(|line| line.contains(name));
    row.unwrap_or_else(|| panic!("no row of {name}:\n{picture}")).to_owned()
}

/// Counts how often all threads but the one that sets the clock went to sleep by themselves.
fn wake_ups(screen: &Screen) -> u64 {
    let tasks = Path::new("/proc").join(screen.child.process_id().unwrap().to_string()).join("task");
    let read = |task: &Path, name| std::fs::read_to_string(task.join(name)).unwrap();
    let tasks = std::fs::read_dir(tasks).unwrap().map(|task| task.unwrap().path());
    let counted = tasks.filter(|task| read(task, "comm").trim() != "setter").map(|task| {
        let status = read(&task, "status");
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    });
    counted.sum()
}

#[test]
fn no_verdict_turns_to_dead_and_ages_stay_sane() {
    let mut stage = Stage::new();
    for (at, seconds) in [HOUR, -HOUR, 0, 24 * HOUR, -24 * HOUR].into_iter().enumerate() {
        stage.set_by(seconds, &format!("late_{at}"));
        for name in ["live_agent", "registered"] {
            let row = row(&stage.screen, name);
            assert!(row.contains("alive"), "{seconds} s: {row}");
        }
        for name in ["alpha_agent", "omega_agent", "late_0"] {
            let row = row(&stage.screen, name);
            assert!(!row.contains("dead"), "{seconds} s: {row}");
        }
        let row = row(&stage.screen, &format!("late_{at}"));
        let row = row.split('│').next().unwrap();
        assert!(!row.contains(" h") && !row.contains(" d"), "{seconds} s, and just written: {row}");
    }
    stage.end();
}

/// Returns the text of each title beside the number of windows, which is the machine's; no title may come twice in a
/// row.
#[track_caller]
fn troubles(screen: &Screen) -> Vec<String> {
    let written = String::from_utf8_lossy(&screen.written).into_owned();
    let rest = written.split("\u{1b}]2;claimtop: ").skip(1);
    let titles: Vec<&str> = rest.filter_map(|rest| Some(rest.split_once('\u{7}')?.0)).collect();
    assert!(titles.windows(2).all(|pair| pair[0] != pair[1]), "repeated: {titles:?}");
    let trouble = |title: &&str| title.split_once(", ").map_or("", |(_, trouble)| trouble).to_owned();
    titles.iter().map(trouble).collect()
}

#[test]
fn titles_and_bells_are_not_repeated() {
    let mut stage = Stage::new();
    let count = |screen: &Screen, text: &str| String::from_utf8_lossy(&screen.written).matches(text).count();
    stage.set_by(0, "early");
    let dead = r#"{"pid":4194304,"sessionId":"11fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    stage.world.write("home/.claude/sessions/4194304.json", dead);
    stage.screen.wait_until("a call", |screen| count(screen, "\u{1b}]9;") == 1);
    let known = troubles(&stage.screen).len();
    for (at, seconds) in [HOUR, -HOUR, 0].into_iter().enumerate() {
        stage.set_by(seconds, &format!("late_{at}"));
    }
    assert_eq!(count(&stage.screen, "\u{1b}]9;"), 1, "it has called again");
    let later = troubles(&stage.screen).split_off(known);
    // Windows of other tests may add that their folders are not read.
    assert!(later.iter().all(|trouble| trouble.starts_with("1 dead claim")), "{later:?}");
    stage.end();
}

#[test]
fn it_rests_afterwards() {
    if !is_apart("terminal::clock::it_rests_afterwards", &OWN_PROCESSES) {
        return;
    }
    let mut stage = Stage::new();
    stage.world.write("home/.maia/sessions/swarm_session_torn.json", "{");
    for (at, seconds) in [HOUR, -HOUR].into_iter().enumerate() {
        stage.set_by(seconds, &format!("late_{at}"));
        std::thread::sleep(std::time::Duration::from_secs(3));
        let before = wake_ups(&stage.screen);
        std::thread::sleep(std::time::Duration::from_secs(6));
        let woken = wake_ups(&stage.screen) - before;
        assert!(woken < 40, "{woken} wake-ups in a while in which nothing happens");
    }
    stage.end();
}
