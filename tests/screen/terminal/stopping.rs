//! While stopped, the terminal is the shell's; when continued, the whole screen is drawn again.

use std::ffi::OsString;
use std::process::Command;

use rustix::process::Signal;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::pty::Screen;
use crate::terminal::world::{World, fresh_modes};

/// Stops the screen in one way: it must restore the terminal and be stopped.
#[track_caller]
fn stop(screen: &mut Screen, how: impl FnOnce(&mut Screen)) {
    how(screen);
    screen.wait_until("a stopped program", |screen| screen.state() == 'T');
    screen.wait_until("the shell's screen", |screen| !screen.parser.screen().alternate_screen());
    screen.check_given_back();
}

/// Continues the screen: it must take the terminal and draw all of it, because its former contents may be gone. A new
/// screen must show the same.
#[track_caller]
fn resume(screen: &mut Screen) {
    while_drawing_anew(screen, |screen| screen.signal(Signal::CONT));
    screen.wait_until("a taken terminal", Screen::is_taken);
}

#[track_caller]
fn while_drawing_anew(screen: &mut Screen, what: impl FnOnce(&mut Screen)) {
    screen.take_output();
    let (rows, columns) = screen.parser.screen().size();
    let known = std::mem::replace(&mut screen.parser, vt100::Parser::new(rows, columns, 0));
    what(screen);
    for text in ["claimtop", "3 Sessions", "alpha_agent", "omega_agent", "quit"] {
        assert!(known.screen().contents().contains(text) || !known.screen().alternate_screen());
        screen.wait_for(text);
    }
}

#[test]
fn by_the_signal_and_by_the_key() {
    for by_key in [false, true] {
        let world = World::new();
        let mut screen = world.open(80, 24);
        for _ in 0..3 {
            stop(
                &mut screen,
                |screen| {
                    if by_key { screen.press("\u{1a}") } else { screen.signal(Signal::TSTP) }
                },
            );
            resume(&mut screen);
        }
        screen.press("q");
        assert_eq!(screen.wait_for_exit(), 0);
        screen.check_given_back();
    }
}

/// As `npx` and scripts start it: what waits for it must not keep the shell from its turn.
#[test]
fn what_started_it_is_stopped_with_it() {
    let world = World::new();
    let mut command = world.command(&[], &[]);
    let shell = ["/bin/sh", "-c", "\"$@\"; exit $?", "sh"].map(OsString::from);
    command.get_argv_mut().splice(0..0, shell);
    let mut screen = Screen::start(command, 80, 24);
    screen.wait_for_sessions();
    stop(&mut screen, |screen| screen.press("\u{1a}"));
    // As a shell continues a job: all of it.
    let group = format!("-{}", screen.child.process_id().unwrap());
    while_drawing_anew(&mut screen, |_| {
        assert!(Command::new("kill").args(["-CONT", "--", &group]).status().unwrap().success());
    });
    assert_eq!(screen.end(), 0);
}

#[test]
fn by_a_signal_that_nobody_can_catch() {
    let world = World::new();
    let mut screen = world.open(80, 24);
    screen.signal(Signal::STOP);
    screen.wait_until("a stopped program", |screen| screen.state() == 'T');
    // A shell that finds the program stopped sets the modes that it wants itself.
    let line = screen.line();
    let mut modes = tcgetattr(&line).unwrap();
    (modes.input_modes, modes.output_modes, modes.control_modes, modes.local_modes) = fresh_modes();
    tcsetattr(&line, OptionalActions::Now, &modes).unwrap();
    assert!(screen.modes().3.contains(LocalModes::ICANON));
    // Open, it would keep the end of the output from being seen.
    drop(line);
    resume(&mut screen);
    assert_eq!(screen.end(), 0);
}

#[test]
fn the_size_may_change_meanwhile() {
    let world = World::new();
    let mut screen = world.open(80, 24);
    stop(&mut screen, |screen| screen.signal(Signal::TSTP));
    screen.resize(100, 40);
    resume(&mut screen);
    screen.wait_for_last_line("quit");
    assert_eq!(screen.end(), 0);
}

#[test]
fn an_end_that_was_asked_for_meanwhile_comes_when_continued() {
    let world = World::new();
    let mut screen = world.open(80, 24);
    stop(&mut screen, |screen| screen.signal(Signal::TSTP));
    screen.signal(Signal::TERM);
    screen.signal(Signal::CONT);
    screen.wait_for_exit();
    screen.check_given_back();
}

#[test]
fn a_key_draws_everything_again() {
    let world = World::new();
    let mut screen = world.open(80, 24);
    while_drawing_anew(&mut screen, |screen| screen.press("\u{c}"));
    assert_eq!(screen.end(), 0);
}
