//! However the screen ends, the terminal is as it was.

use rustix::process::Signal;

use crate::pty::Screen;
use crate::terminal::world::World;

/// Ends the screen in one way; the terminal must be restored with its former contents.
#[track_caller]
fn check(end: impl FnOnce(&mut Screen)) -> u32 {
    let world = World::new();
    let mut screen = world.open(80, 24);
    assert!(screen.is_taken());
    end(&mut screen);
    let code = screen.wait_for_exit();
    screen.check_given_back();
    assert!(!screen.shows("alpha_agent"), "a trace is left:\n{}", screen.picture());
    code
}

#[test]
fn after_quitting() {
    for key in ["q", "\u{3}"] {
        assert_eq!(check(|screen| screen.press(key)), 0, "{key:?}");
    }
}

#[test]
fn after_quitting_from_any_depth() {
    for keys in ["\r", "?", "r", "f", "/x\r", "\rr?", "7"] {
        assert_eq!(check(|screen| screen.press(&format!("{keys}\u{3}"))), 0, "{keys:?}");
    }
    assert_eq!(check(|screen| screen.press("/typed\u{3}")), 0, "Ctrl-C while a filter is typed");
}

#[test]
fn after_each_signal_that_ends() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        check(|screen| screen.signal(signal));
    }
}

#[test]
fn after_many_signals_at_once() {
    check(|screen| {
        for signal in [Signal::TERM, Signal::INT, Signal::TERM, Signal::QUIT, Signal::HUP] {
            screen.signal(signal);
        }
    });
}

#[test]
fn after_a_signal_in_the_very_first_moment() {
    let world = World::new();
    let mut screen = Screen::start(world.command(&[], &[]), 80, 24);
    screen.wait_until("the alternate screen", |screen| screen.parser.screen().alternate_screen());
    screen.signal(Signal::TERM);
    screen.wait_for_exit();
    screen.check_given_back();
}

#[test]
fn with_the_mouse_in_use() {
    let world = World::new();
    world.write("home/.config/claimtop/config.toml", "mouse = true\n");
    let mut screen = world.open(80, 24);
    assert_ne!(screen.parser.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    screen.press("q");
    screen.wait_for_exit();
    screen.check_given_back();
}
