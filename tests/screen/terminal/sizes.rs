//! Every size works, and a change of size draws at the new one.

use crate::pty::{Screen, cells};
use crate::terminal::world::World;

impl Screen {
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.take_output();
        self.parser.screen_mut().set_size(rows, columns);
        self.master.as_ref().unwrap().resize(cells(columns, rows)).unwrap();
    }

    pub(crate) fn last_line(&self) -> String {
        let (_, columns) = self.parser.screen().size();
        self.parser.screen().rows(0, columns).last().unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn wait_for_last_line(&mut self, text: &str) {
        self.wait_until(&format!("{text:?} at the bottom"), |screen| screen.last_line().contains(text));
    }
}

/// Opens everything that can be opened, and closes it again.
const TOUR: &str = "123456\t\r\u{1b}jkgG\r\u{4}\u{15}\u{1b}r\u{1b}?j\u{1b}/al\r\u{1b}ffsSnN \u{c}3";

#[test]
fn common_sizes_show_sessions_and_keys() {
    for (columns, rows) in [(60, 15), (80, 24), (100, 30), (200, 50), (300, 100)] {
        let world = World::new();
        let mut screen = world.open(columns, rows);
        screen.wait_for_last_line("quit");
        assert_eq!(screen.end(), 0, "{columns}x{rows}");
    }
}

#[test]
fn no_size_is_too_small_or_too_large() {
    let sizes = [(1, 1), (2, 1), (1, 24), (5, 3), (3, 5), (20, 4), (80, 4), (300, 5), (300, 100), (500, 200)];
    // Larger than any real terminal; but one may claim to be that large.
    let sizes = sizes.into_iter().chain([(10_000, 50), (40_000, 2), (u16::MAX, 1), (1, u16::MAX)]);
    for (columns, rows) in sizes {
        let world = World::new();
        let mut screen = Screen::start(world.command(&[], &[]), columns, rows);
        screen.wait_until("a taken terminal", Screen::is_taken);
        screen.press(TOUR);
        screen.resize(80, 24);
        screen.wait_for("alpha_agent");
        screen.wait_for_last_line("quit");
        assert_eq!(screen.end(), 0, "{columns}x{rows}");
    }
}

#[test]
fn a_key_that_comes_with_a_change_of_size_is_read() {
    let world = World::new();
    let mut screen = world.open(80, 24);
    for columns in (81..120).step_by(2) {
        screen.resize(columns, 24);
        screen.press("?");
        screen.wait_for("Keys that are active now");
        screen.resize(columns + 1, 24);
        screen.press("q");
        screen.wait_until("no help", |screen| !screen.shows("Keys that are active now"));
    }
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_change_of_size_draws_at_the_new_one() {
    let world = World::new();
    let mut screen = world.open(80, 24);
    for (columns, rows) in [(200, 50), (60, 15), (1, 1), (120, 30), (5, 3), (80, 24)] {
        screen.resize(columns, rows);
        if columns >= 60 {
            screen.wait_for("alpha_agent");
            screen.wait_for_last_line("quit");
        }
    }
    assert_eq!(screen.end(), 0);
}

/// A terminal that shrinks and grows again has lost the text that did not fit.
#[test]
fn a_size_that_is_soon_back_is_drawn_anew() {
    let world = World::new();
    let mut screen = world.open(80, 24);
    for _ in 0..20 {
        screen.resize(10, 4);
        screen.resize(80, 24);
        screen.wait_for("alpha_agent");
        screen.wait_for_last_line("quit");
    }
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_storm_of_sizes_ends_at_the_last() {
    let world = World::new();
    let mut screen = world.open(80, 24);
    for at in 0..200 {
        screen.resize(10 + at, 3 + at / 4);
        screen.press(if at % 2 == 0 { "\r" } else { "\u{1b}" });
    }
    screen.resize(90, 20);
    // crossterm 0.29 may deliver a key that comes together with a change of size only with the next one.
    screen.press("\u{c}");
    screen.wait_for_last_line("quit");
    screen.wait_for("alpha_agent");
    assert_eq!(screen.end(), 0);
}
