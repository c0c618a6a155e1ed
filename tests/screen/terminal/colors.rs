//! Which colours and characters reach which terminal.

use crate::pty::Screen;
use crate::terminal::world::World;

/// Returns the parameters of every sequence that sets a colour; 39 and 49 take it back.
fn colors(written: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(written);
    let sequences = text.split("\u{1b}[").skip(1).filter_map(|rest| {
        let (parameters, _) = rest.split_once('m')?;
        parameters.bytes().all(|byte| byte.is_ascii_digit() || byte == b';').then(|| parameters.to_owned())
    });
    sequences.filter(|parameters| parameters.split(';').any(is_color)).collect()
}

fn is_color(parameter: &str) -> bool {
    matches!(parameter.parse(), Ok(30..=38 | 40..=48 | 90..=107))
}

/// Goes through the screen and returns every byte that was written.
#[track_caller]
fn shown(arguments: &[&str], environment: &[(&str, &str)]) -> Vec<u8> {
    let world = World::new();
    world.write("home/.maia/sessions/swarm_session_torn.json", "{");
    let mut screen = Screen::start(world.command(arguments, environment), 120, 40);
    screen.wait_for_sessions();
    screen.press("/alpha\r\r");
    screen.wait_for("maia alpha_agent");
    screen.press("?");
    screen.wait_for("Keys that are active now");
    screen.close("Keys that are active now");
    screen.close("maia alpha_agent");
    screen.close("/alpha");
    screen.press("5");
    screen.wait_for("corrupt-record");
    screen.press("q");
    assert_eq!(screen.wait_for_exit(), 0);
    screen.check_given_back();
    screen.written.clone()
}

#[test]
fn colors_are_used_where_nothing_speaks_against_them() {
    let written = shown(&[], &[]);
    let colors = colors(&written);
    assert!(!colors.is_empty());
    assert!(!colors.iter().any(|color| color.contains("38;2;") || color.contains("48;2;")), "{colors:?}");
}

#[test]
fn a_terminal_with_all_colors_gets_them() {
    for value in ["truecolor", "24bit"] {
        let colors = colors(&shown(&[], &[("COLORTERM", value)]));
        assert!(colors.iter().any(|color| color.contains("38;2;")), "{value}: {colors:?}");
        assert!(colors.iter().any(|color| color.contains("48;2;18;21;28")), "{value}: {colors:?}");
    }
}

#[test]
fn a_terminal_with_a_light_ground_gets_the_colors_for_it() {
    let colors = colors(&shown(&[], &[("COLORTERM", "truecolor"), ("COLORFGBG", "0;15")]));
    assert!(colors.iter().any(|color| color.contains("48;2;251;252;254")), "{colors:?}");
}

#[test]
fn colors_that_are_not_wanted_are_not_sent() {
    for (arguments, environment) in [
        (&[][..], &[("NO_COLOR", "1")][..]),
        (&[], &[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]),
        (&["--color", "never"], &[]),
        (&["--color", "never"], &[("COLORTERM", "truecolor")]),
    ] {
        let colors = colors(&shown(arguments, environment));
        assert!(colors.is_empty(), "{arguments:?} {environment:?}: {colors:?}");
    }
}

#[test]
fn a_dumb_terminal_gets_lines_and_no_screen() {
    let world = World::new();
    let mut screen = Screen::start(world.command(&[], &[("TERM", "dumb")]), 120, 40);
    assert_eq!(screen.wait_for_exit(), 0);
    let written = String::from_utf8(screen.written.clone()).unwrap();
    assert!(!written.is_empty() && !written.contains('\u{1b}'), "{written}");
}

#[test]
fn an_option_is_stronger_than_the_environment() {
    let written = shown(&["--color", "always"], &[("NO_COLOR", "1")]);
    assert!(!colors(&written).is_empty());
}

#[test]
fn ascii_is_nothing_but_ascii() {
    for arguments in [&["--ascii"][..], &["--ascii", "--color", "never"]] {
        let written = shown(arguments, &[]);
        let text = String::from_utf8(written).unwrap();
        let others: String = text.chars().filter(|c| !c.is_ascii()).collect();
        assert!(others.is_empty(), "{others}");
    }
    let plain = String::from_utf8(shown(&[], &[])).unwrap();
    assert!(!plain.is_ascii(), "without the option there are glyphs");
}
