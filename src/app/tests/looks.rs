//! New looks, and the time that passes between them.

use super::*;
use crate::app::msg::Hints;

#[test]
fn a_frozen_picture_stays_and_thaws_to_the_newest_look() {
    let mut state = seen(testing::busy());
    press(&mut state, "f");
    assert_eq!(look(&mut state, testing::quiet()), []);
    assert_eq!(state.table.rows.len(), 6);
    assert_eq!(state.changes_in(), Some(1), "the age of the picture is told");
    press(&mut state, "f");
    assert_eq!(state.table.rows.len(), 0);
}

#[test]
fn nothing_is_drawn_when_nothing_has_changed() {
    let mut state = seen(testing::busy());
    let mut later = testing::busy();
    later.taken_at += SignedDuration::from_secs(10);
    assert_eq!(look(&mut state, later), []);
    assert_eq!(press(&mut state, "P"), []);
    assert_eq!(look(&mut state, testing::quiet()), [Effect::Redraw]);
}

#[test]
fn a_tick_comes_when_an_age_on_the_screen_changes_and_not_before() {
    let mut state = seen(testing::busy());
    assert_eq!(state.changes_in(), Some(1), "a window is 40 s old");
    press(&mut state, "/release\n");
    assert_eq!(state.changes_in(), Some(86_400 - 600_000 % 86_400));
    look(&mut state, testing::quiet());
    assert_eq!(state.changes_in(), None);
}

#[test]
fn ages_are_those_of_the_last_tick() {
    let mut state = seen(testing::busy());
    let later: Timestamp = now() + SignedDuration::from_secs(60);
    assert_eq!(update(&mut state, Msg::Tick(later)), [Effect::Redraw]);
    let youngest = state.visible().iter().find(|row| row.key == key("w-6001"));
    assert!(youngest.is_some_and(|row| row.cells.iter().any(|cell| cell.span.text() == "1 min")));
}

#[test]
fn what_has_come_and_gone_is_no_news_however_long_nobody_presses_a_key() {
    let mut state = seen(testing::quiet());
    look(&mut state, testing::busy());
    assert!(!state.news.is_empty());
    look(&mut state, testing::quiet());
    assert!(state.news.is_empty(), "{:?}", state.news);
}

#[test]
fn lost_hints_are_told() {
    let mut state = seen(testing::busy());
    assert_eq!(update(&mut state, Msg::Hints(Hints::Lost)), [Effect::Redraw]);
    assert_eq!(state.hints, Hints::Lost);
}
