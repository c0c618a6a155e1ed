//! How many keys a person needs for what they ask every few minutes, over the demo's world. That a stuck claim takes three
//! and an undo two is in `tests/guard/demo.rs`, which lets go of one.

use std::path::Path;
use std::sync::Arc;

use claimtop::testing::app::{Effect, Msg, Options, Press, Size, State, update};
use claimtop::testing::config::{Glyphs, Theme};
use claimtop::testing::ui::{Colors, Look, Palette, render};

use crate::common;

/// The screen of the demo as it opens.
fn opened() -> State {
    let story = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo.toml");
    let report = common::load(&story).report();
    let mut state = State::new(Options::default(), Size { width: 120, height: 44 }, report.taken_at);
    update(&mut state, Msg::Looked(Arc::new(report)));
    state
}

fn text(state: &State) -> String {
    let look = Look { palette: Palette::new(Theme::Dark, Colors::Unused), glyphs: Glyphs::Unicode };
    let buffer = render(state, look);
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>() + "\n").collect()
}

/// Presses the keys; returns what the last one asks for.
fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    keys.chars().fold(Vec::new(), |_, key| update(state, Msg::Pressed(Press::Char(key))))
}

#[track_caller]
fn check_shown(state: &State, parts: &[&str]) {
    let text = text(state);
    parts.iter().for_each(|part| assert!(text.contains(part), "{part} is missing in:\n{text}"));
}

#[test]
fn no_key_shows_who_waits_whose_turn_it_is_which_yields_and_what_the_dead_left() {
    let state = opened();
    check_shown(&state, &["site-css asks you", "may it run `npm publish`?"]);
    check_shown(&state, &["your turn", "shop-tests"]);
    check_shown(&state, &["site-css ↔ checkout: same session: close checkout"]);
    check_shown(&state, &["shop-search is dead", "left 3 claims"]);
}

#[test]
fn one_key_shows_what_a_window_said() {
    let mut state = opened();
    let asked = press(&mut state, "p");
    assert!(asked.iter().any(|effect| matches!(effect, Effect::Peek(_))), "{asked:?}");
}

#[test]
fn two_keys_bring_a_dead_window_back_and_the_first_says_how() {
    let mut state = opened();
    press(&mut state, "N");
    check_shown(&state, &["R resume"]);
    assert!(press(&mut state, "R").contains(&Effect::FindClosed));
}
