//! Failures outside the screen while it is open: it continues, and reports what it lost.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;

use crate::apart::is_apart;
use crate::pty::Screen;
use crate::terminal::world::World;

/// The most memory beside files of 1 GiB, in KiB: 64 MiB.
const MOST_KIB: u64 = 64 << 10;

/// Opens the screen with more arguments, wide enough for all its messages.
#[track_caller]
fn open(world: &World, more: &[&str]) -> Screen {
    let mut screen = Screen::start(world.command(more, &[]), 200, 60);
    screen.wait_for_sessions();
    screen
}

/// Fails unless the screen still shows a new record.
#[track_caller]
fn check_goes_on(world: &World, screen: &mut Screen, name: &str) {
    let text = format!(r#"{{"current_agent":"{name}"}}"#);
    world.write(&format!("home/.maia/sessions/swarm_session_{name}.json"), &text);
    screen.wait_for(name);
}

fn sparse(world: &World, below: &str) {
    world.write(below, "{\"type\":\"user\"}\n");
    File::options().write(true).open(world.path(below)).unwrap().set_len(1 << 30).unwrap();
}

#[test]
fn transcripts_and_records_of_a_gibibyte_are_not_read() {
    let world = World::new();
    let agent = world.agent();
    world.register(agent.id(), "registered");
    sparse(&world, &format!("home/.claude/projects/-x/95fe798d-3725-4649-974a-{:012}.jsonl", agent.id()));
    sparse(&world, "home/.claude/projects/-x/11fe798d-3725-4649-974a-0dec79220193.jsonl");
    sparse(&world, "home/.maia/sessions/swarm_session_huge.json");
    let mut screen = open(&world, &[]);
    screen.wait_for("registered");
    for name in ["late_agent", "later_agent"] {
        check_goes_on(&world, &mut screen, name);
    }
    screen.press("5");
    screen.wait_for("swarm_session_huge.json");
    let status = std::fs::read_to_string(format!("/proc/{}/status", screen.child.process_id().unwrap()));
    let status = status.unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
    assert!(peak < MOST_KIB, "{peak} KiB");
    assert_eq!(screen.end(), 0);
}

/// PostgreSQL's answer while it starts: a fatal error with its code (57P03) and its message.
const STARTING: &[u8] = b"E\0\0\0\x37SFATAL\0C57P03\0Mthe database system is starting up\0\0";

#[test]
#[cfg_attr(not(feature = "postgres"), ignore = "this build reads no database of a server")]
fn a_database_that_hangs_goes_and_comes_back_holds_nothing_up() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("postgres://nobody@127.0.0.1:{port}/leo?sslmode=disable");
    // It accepts connections, because the kernel does, and never sends anything.
    let mut screen = open(&world, &["--postgres", &url]);
    check_goes_on(&world, &mut screen, "hangs_now");
    screen.wait_for("[database");
    drop(listener);
    check_goes_on(&world, &mut screen, "gone_now");
    screen.press("D");
    screen.wait_for("Connection refused");
    screen.close("Connection refused");
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1_024]);
        stream.write_all(STARTING).unwrap();
    });
    screen.press("D");
    screen.wait_for("the database system is starting up");
    answering.join().unwrap();
    screen.close("the database system is starting up");
    check_goes_on(&world, &mut screen, "back_now");
    assert_eq!(screen.end(), 0);
}

/// Opens the screen with a log that the disk soon refuses: it must continue, and its picture must stay the same except
/// for the notice.
#[track_caller]
fn check_full(world: &World, mut screen: Screen) {
    screen.wait_for_sessions();
    for number in 0..10 {
        check_goes_on(world, &mut screen, &format!("late_{number}"));
    }
    assert!(screen.picture().starts_with(" claimtop"), "written over:\n{}", screen.picture());
    screen.press("D");
    screen.wait_for("lines lost: failed to write them");
    assert!(!screen.shows("Unable to write"), "{}", screen.picture());
    screen.close("lines lost");
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_full_disk_below_the_log_loses_lines_and_says_so() {
    let name = "terminal::trouble::a_full_disk_below_the_log_loses_lines_and_says_so";
    if !is_apart(name, &["--user", "--map-root-user", "--mount"]) {
        return;
    }
    let world = World::new();
    let state = world.small_disk("home/.local/state", "4k");
    std::fs::write(state.join("full"), [b'x'; 4_096]).unwrap();
    let screen = Screen::start(world.command(&["--log-level", "debug"], &[]), 200, 60);
    check_full(&world, screen);
}

/// Starts the program under a limit, in the words of the shell.
fn limited(world: &World, limit: &str) -> Screen {
    let command = world.command(&["--log-level", "debug"], &[]);
    let mut limited = portable_pty::CommandBuilder::new("/bin/sh");
    limited.args(["-c", &format!("ulimit {limit}; exec \"$@\""), "sh"]);
    limited.args(command.get_argv());
    limited.env_clear();
    limited.env("TERM", "xterm-256color");
    Screen::start(limited, 200, 60)
}

#[test]
fn a_limit_on_the_size_of_files_ends_nothing() {
    let world = World::new();
    // Blocks of 512 or 1,024 bytes, depending on the shell.
    let screen = limited(&world, "-f 1");
    check_full(&world, screen);
}

#[test]
fn too_few_descriptors_are_told_before_the_screen_opens() {
    let world = World::new();
    for few in [12, 16, 20, 40] {
        let mut screen = limited(&world, &format!("-n {few}"));
        assert_eq!(screen.wait_for_exit(), 4, "{few}: {}", screen.picture());
        assert!(screen.shows("files may be open at once"), "{}", screen.picture());
        screen.check_given_back();
    }
    let mut screen = limited(&world, "-n 64");
    screen.wait_for_sessions();
    check_goes_on(&world, &mut screen, "late");
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_log_that_cannot_be_made_is_told_before_the_screen_opens() {
    let world = World::new();
    world.write("home/.local/state", "a file where a folder should be");
    let mut screen = Screen::start(world.command(&["--log-level", "debug"], &[]), 200, 30);
    assert_eq!(screen.wait_for_exit(), 4);
    assert!(screen.shows("failed to log into"), "{}", screen.picture());
    screen.check_given_back();
}
