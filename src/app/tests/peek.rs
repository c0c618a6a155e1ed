//! A look into a window.

use super::*;
use crate::app::msg::Position;
use crate::core::model::{Peek, Talk};

/// A window that has asked something, with hostile text in it.
fn peek_of_asking() -> Peek {
    let at = Some(now() - SignedDuration::from_mins(2));
    let mut talk = Talk::default();
    talk.prompts("Fix the cart\nand more\u{1b}[31m", at);
    talk.answers("I fixed it.\n\tAll tests pass\u{202e}", at);
    talk.calls("c1", "Bash cargo test", at);
    talk.asks("c2", ("Ship it?", ["Yes", "No\u{1b}"].into_iter()), at);
    let pane = vec!["$ cargo test".into(), "\u{9b}2Jok".into()];
    Peek { talk: Ok(talk), pane: Some(Ok(pane)) }
}

fn first_window(state: &mut State) -> Key {
    let key = state.report().unwrap().windows[0].key.clone();
    while state.selected() != Some(&key) {
        press(state, "j");
    }
    key
}

const PARTS: [&str; 8] = [
    "Asks you, 2 min ago", "1. Yes", "2. No\\x1B", "All tests pass‹U+202E›", "Bash cargo test",
    "Fix the cart", "$ cargo test", "‹U+009B›2Jok",
];

#[test]
fn a_look_into_a_window_shows_what_it_asks_and_what_it_said() {
    let mut report = testing::busy();
    testing::edits(&mut report.windows[0], &["/w/cart.rs"]);
    let mut state = seen(report);
    update(&mut state, Msg::Resized(Size { width: 60, height: 15 }));
    let key = first_window(&mut state);
    let effects = press(&mut state, "p");
    let [Effect::Redraw, Effect::Peek(question)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(question.key, key);
    assert!(question.session.is_some(), "its session's file is read");
    assert!(panel_text(&state).contains("Reading what it said"), "{}", panel_text(&state));
    update(&mut state, Msg::Peeked(key.clone(), Arc::new(peek_of_asking())));
    let text = panel_text(&state);
    PARTS.iter().for_each(|part| assert!(text.contains(part), "{part} is missing in:\n{text}"));
    // Another window's answer changes nothing here.
    update(&mut state, Msg::Peeked(super::key("w-none"), Arc::new(peek_of_asking())));
    press(&mut state, "p");
    assert!(state.layers.is_empty(), "the same key closes it");
    assert_eq!(state.peeked(), None);
}

#[test]
fn beside_the_table_a_look_goes_with_the_selection_and_follows_the_window() {
    let mut report = testing::busy();
    testing::edits(&mut report.windows[0], &["/w/cart.rs"]);
    let mut state = seen(report.clone());
    update(&mut state, Msg::Resized(Size { width: 200, height: 50 }));
    let key = first_window(&mut state);
    let effects = press(&mut state, "p");
    assert!(matches!(effects.as_slice(), [Effect::Redraw, Effect::Peek(_)]), "{effects:?}");
    // Nothing is asked while an answer is to come, and nothing again while nothing has changed.
    assert!(!press(&mut state, "j").iter().any(|effect| matches!(effect, Effect::Peek(_))));
    let effects = update(&mut state, Msg::Peeked(key.clone(), Arc::new(peek_of_asking())));
    let [Effect::Peek(question)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_ne!(question.key, key, "another one is selected by now");
    update(&mut state, Msg::Peeked(question.key.clone(), Arc::new(peek_of_asking())));
    assert!(matches!(press(&mut state, "k").as_slice(), [Effect::Redraw, Effect::Peek(_)]));
    let effects = update(&mut state, Msg::Peeked(key.clone(), Arc::new(peek_of_asking())));
    assert_eq!(effects, [Effect::Redraw]);
    let shown = |state: &State| {
        let lines = state.detail.iter().flat_map(|page| &page.lines);
        lines.map(|line| line.plain()).collect::<Vec<_>>().join("\n")
    };
    let text = shown(&state);
    PARTS.iter().for_each(|part| assert!(text.contains(part), "{part} is missing in:\n{text}"));
    // Its session was written.
    let mut later = report;
    let work = later.windows[0].work.as_mut().unwrap();
    Arc::make_mut(work).written_at += SignedDuration::from_secs(1);
    let effects = update(&mut state, Msg::Looked(Arc::new(later)));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Peek(_))), "{effects:?}");
    update(&mut state, Msg::Peeked(key, Arc::new(peek_of_asking())));
    press(&mut state, "p");
    assert!(!shown(&state).contains("Asks you"), "{}", shown(&state));
}

#[test]
fn a_recording_cannot_be_looked_into() {
    let mut state = seen(testing::busy());
    state.options.replayed = Some(Position { look: 1, of: 1, at: now() });
    first_window(&mut state);
    assert!(!press(&mut state, "p").iter().any(|effect| matches!(effect, Effect::Peek(_))));
}
