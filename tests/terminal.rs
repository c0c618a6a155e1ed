//! The full screen in a real terminal: it comes, it goes, and the terminal is what it was.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests say by panicking what is wrong")]

mod pty;

use std::time::Duration;

use portable_pty::CommandBuilder;
use pty::{Screen, command};
use rustix::process::Signal;
use tempfile::TempDir;

struct World(TempDir);

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(world.0.path().join("home/.maia/sessions")).unwrap();
        std::fs::create_dir_all(world.0.path().join("tmp")).unwrap();
        let record = world.0.path().join("home/.maia/sessions/swarm_session_notes.json");
        std::fs::File::create_new(&record).unwrap();
        std::fs::OpenOptions::new()
            .write(true)
            .open(&record)
            .and_then(|mut file| std::io::Write::write_all(&mut file, br#"{"current_agent":"the_only_one"}"#))
            .unwrap();
        world
    }

    fn command(&self) -> CommandBuilder {
        command(&self.0.path().join("home"), &self.0.path().join("tmp"))
    }

    fn screen(&self) -> Screen {
        let mut screen = Screen::open(self.command(), 80, 24);
        screen.wait_for("Sessions 1");
        screen
    }
}

#[track_caller]
fn assert_restored(screen: &Screen) {
    assert!(!screen.is_on_alternate_screen(), "the alternate screen stays");
    assert!(!screen.hides_cursor(), "the cursor stays hidden");
    assert!(screen.is_cooked(), "raw mode stays");
}

#[test]
fn quitting_restores_the_terminal() {
    for keys in ["q", "\u{3}"] {
        let world = World::new();
        let mut screen = world.screen();
        assert!(screen.is_on_alternate_screen() && screen.hides_cursor() && !screen.is_cooked());
        screen.press(keys);
        assert_eq!(screen.end(), 0);
        assert_restored(&screen);
    }
}

#[test]
fn each_signal_that_ends_restores_the_terminal() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let world = World::new();
        let mut screen = world.screen();
        screen.signal(signal);
        screen.end();
        assert_restored(&screen);
    }
}

#[test]
fn stopping_leaves_the_terminal_and_continuing_draws_all_of_it_again() {
    for way in ["key", "signal"] {
        let world = World::new();
        let mut screen = world.screen();
        match way {
            "key" => screen.press("\u{1a}"),
            _ => screen.signal(Signal::TSTP),
        }
        screen.wait_until("left", |screen| !screen.alternate_screen());
        wait_for_state(&screen, 'T');
        assert_restored(&screen);
        screen.signal(Signal::CONT);
        screen.wait_until("came back", vt100::Screen::alternate_screen);
        screen.wait_for("Sessions 1");
        assert!(!screen.is_cooked(), "{way}");
        assert_eq!(screen.quit(), 0);
        assert_restored(&screen);
    }
}

#[test]
fn continuing_after_a_stop_that_nobody_announced_draws_again() {
    let world = World::new();
    let mut screen = world.screen();
    screen.signal(Signal::STOP);
    wait_for_state(&screen, 'T');
    let before = screen.bytes.len();
    screen.signal(Signal::CONT);
    screen.wait_for_bytes(before + 500);
    assert_eq!(screen.quit(), 0);
}

fn wait_for_state(screen: &Screen, wanted: char) {
    let path = format!("/proc/{}/stat", screen.child.process_id().unwrap());
    for _ in 0..6_000 {
        let stat = read(&path);
        if stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with(wanted) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the program never was in state {wanted}");
}

#[expect(clippy::disallowed_methods, reason = "a test reads the process table")]
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn a_terminal_that_hangs_up_ends_the_program() {
    let world = World::new();
    let size = portable_pty::PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pty = portable_pty::native_pty_system().openpty(size).unwrap();
    let mut child = pty.slave.spawn_command(world.command()).unwrap();
    drop(pty.slave);
    while pty::is_cooked(&*pty.master) {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(pty.master);
    for _ in 0..6_000 {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("it lives on without a terminal");
}

#[test]
fn any_size_is_drawn_and_a_new_size_is_drawn_anew() {
    let world = World::new();
    let mut screen = world.screen();
    for (columns, rows) in [(60, 15), (200, 50), (1, 1), (5, 3), (300, 100), (80, 24)] {
        screen.resize(columns, rows);
        if columns >= 60 {
            screen.wait_for("Sessions");
        }
    }
    screen.wait_for("Sessions 1");
    assert_eq!(screen.quit(), 0);
}

#[test]
fn every_view_and_panel_opens_and_closes() {
    let world = World::new();
    let mut screen = world.screen();
    for (keys, text) in [
        ("2", "the_only_one"),
        ("\r", "Esc back"),
        ("\u{1b}", ""),
        ("3", "agent-role"),
        ("4", "Severity"),
        ("5", "Nothing has been done yet"),
        ("?", "Keys that are active now"),
        ("\u{1b}", "Nothing has been done yet"),
        ("2", "the_only_one"),
        ("/zzz\r", "Nothing here matches zzz"),
        ("\u{1b}", "the_only_one"),
        ("r", "Plan: release"),
        ("\u{1b}", "the_only_one"),
        ("f", "[frozen"),
    ] {
        screen.press(keys);
        match text {
            "" => screen.wait_without("Esc back"),
            text => screen.wait_for(text),
        }
    }
    assert_eq!(screen.quit(), 0);
}

#[track_caller]
fn check_bytes(arguments: &[&str], environment: &[(&str, &str)], wanted: &str, unwanted: &[&str]) {
    let world = World::new();
    let mut command = world.command();
    command.args(arguments);
    for (name, value) in environment {
        command.env(name, value);
    }
    let mut screen = Screen::open(command, 80, 24);
    screen.wait_for("Sessions 1");
    screen.press("2");
    screen.wait_for("the_only_one");
    assert_eq!(screen.quit(), 0);
    let text = String::from_utf8_lossy(&screen.bytes).into_owned();
    assert!(text.contains(wanted), "{wanted:?} is missing");
    for unwanted in unwanted {
        assert!(!text.contains(unwanted), "{unwanted:?} was written");
    }
}

#[test]
fn colours_are_those_that_the_terminal_has() {
    check_bytes(&[], &[("COLORTERM", "truecolor")], "38;2;", &[]);
    check_bytes(&[], &[], "Sessions", &["38;2;"]);
    check_bytes(&[], &[("NO_COLOR", "1")], "Sessions", &["38;2;", "38;5;", "\u{1b}[31", "\u{1b}[32"]);
    check_bytes(&["--color", "never"], &[("COLORTERM", "truecolor")], "Sessions", &["38;2;", "38;5;"]);
}

#[test]
fn ascii_is_ascii() {
    let world = World::new();
    let mut command = world.command();
    command.arg("--ascii");
    let mut screen = Screen::open(command, 80, 24);
    screen.wait_for("Sessions 1");
    screen.press("2");
    screen.wait_for("the_only_one");
    assert!(screen.contents().is_ascii(), "{}", screen.contents());
    assert_eq!(screen.quit(), 0);
}

/// A terminal that nobody reads blocks whoever writes; a signal must end the program all the same.
#[test]
fn a_blocked_terminal_does_not_keep_a_signal_from_ending_it() {
    let world = World::new();
    let size = portable_pty::PtySize { rows: 150, cols: 500, pixel_width: 0, pixel_height: 0 };
    let pty = portable_pty::native_pty_system().openpty(size).unwrap();
    let mut child = pty.slave.spawn_command(world.command()).unwrap();
    let pid = i32::try_from(child.process_id().unwrap()).unwrap();
    // Every resize draws a whole frame; the terminal's buffer takes less than one.
    for columns in 400..440 {
        pty.master.resize(portable_pty::PtySize { cols: columns, ..size }).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    for _ in 0..6_000 {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("a blocked terminal keeps it alive");
}
