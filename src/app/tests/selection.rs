//! What is selected, and how the selection moves and stays.

use super::*;
use crate::app::keys::command::Command;
use crate::app::layer::Layer;
use crate::app::msg::{Gesture, Target};
use crate::app::state::Pane;
use crate::app::table::view::View;

#[track_caller]
fn check_selected(keys: &str, expected: &str) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    assert_eq!(state.selected().map(Key::as_str), Some(expected));
}

#[test]
fn the_worst_window_comes_first_and_is_selected() {
    let state = seen(testing::busy());
    assert_eq!(shown(&state), ["w-4711", "w-4890", "w-5333", "w-5120", "w-6001", "w-6200"]);
    check_selected("", "w-4711");
}

#[test]
fn keys_move_the_selection_and_stop_at_the_ends() {
    check_selected("j", "w-4890");
    check_selected("jjk", "w-4890");
    check_selected("k", "w-4711");
    check_selected("G", "w-6200");
    check_selected("Gjjg", "w-4711");
}

#[test]
fn n_goes_round_the_rows_with_problems() {
    check_selected("n", "w-4890");
    check_selected("nn", "w-5333");
    check_selected("nnn", "w-4711");
    check_selected("N", "w-5333");
}

#[test]
fn the_selection_follows_the_thing_and_not_the_row() {
    let mut state = seen(testing::busy());
    press(&mut state, "jj");
    let mut report = testing::busy();
    report.windows.reverse();
    report.findings.clear();
    look(&mut state, report);
    assert_eq!(state.selected(), Some(&key("w-5333")));
    assert_eq!(state.place().at, 2);
    assert_eq!(shown(&state)[2], "w-5333");
}

#[test]
fn a_neighbour_is_selected_when_the_thing_vanishes() {
    let mut state = seen(testing::busy());
    press(&mut state, "j");
    let mut report = testing::busy();
    report.windows.retain(|window| window.pid != 4890);
    look(&mut state, report);
    assert_eq!(state.selected(), Some(&key("w-5333")));
    look(&mut state, testing::quiet());
    assert_eq!(state.selected(), None);
}

#[test]
fn each_view_keeps_its_own_selection() {
    let mut state = seen(testing::busy());
    press(&mut state, "jj4j\t");
    assert_eq!(state.view, View::Problems);
    press(&mut state, "2");
    assert_eq!(state.selected(), Some(&key("w-5333")));
    press(&mut state, "4");
    assert_eq!(state.selected(), Some(&key("c-SD-099")));
}

fn point(state: &mut State, gesture: Gesture, target: Target) -> Vec<Effect> {
    update(state, Msg::Pointed(gesture, target))
}

#[test]
fn a_click_selects_a_second_one_opens_and_the_wheel_moves() {
    let mut state = seen(testing::busy());
    point(&mut state, Gesture::Click, Target::Row(2));
    assert_eq!(state.selected(), Some(&key("w-5333")));
    point(&mut state, Gesture::WheelUp, Target::Row(4));
    assert_eq!(state.selected(), Some(&key("w-4890")));
    point(&mut state, Gesture::Click, Target::Row(1));
    assert!(matches!(state.layers.as_slice(), [Layer::Evidence { key, .. }] if key.as_str() == "w-4890"));
    point(&mut state, Gesture::WheelDown, Target::Nothing);
    assert_eq!(state.layers.last().map(Layer::scroll), Some(1), "the wheel scrolls what is open");
}

#[test]
fn a_click_on_a_name_a_tab_or_a_key_does_what_the_key_does() {
    let mut state = seen(testing::busy());
    let sort = Target::Command(Command::SortBy(Some(2)));
    point(&mut state, Gesture::Click, sort);
    assert_eq!(shown(&state), ["w-4711", "w-4890", "w-5120", "w-5333", "w-6001", "w-6200"]);
    point(&mut state, Gesture::Click, sort);
    assert_eq!(shown(&state)[0], "w-6200");
    press(&mut state, "/cart");
    point(&mut state, Gesture::Click, Target::Command(Command::Show(View::Claims)));
    assert_eq!((state.view, state.filter.text.as_str()), (View::Claims, "cart"));
    press(&mut state, "r");
    point(&mut state, Gesture::Click, Target::Command(Command::Show(View::Now)));
    assert_eq!(state.message.as_deref(), Some("A plan is open: Esc closes it"));
    assert_eq!(point(&mut state, Gesture::Click, Target::Command(Command::Quit)), [Effect::Quit]);
}

#[test]
fn the_pane_beside_the_table_has_the_keys_until_they_are_given_back() {
    let mut state = seen(testing::busy());
    press(&mut state, "ljj");
    assert_eq!((state.pane, state.place().at), (Pane::Details { scroll: 2 }, 0));
    press(&mut state, "G");
    let last = state.pane.scroll();
    press(&mut state, "jjk");
    assert_eq!(state.pane.scroll(), last - 1, "it stops at its end");
    for back in ["h", "\u{1b}"] {
        press(&mut state, back);
        assert_eq!((state.pane, state.layers.len()), (Pane::Table, 0));
        press(&mut state, "l");
    }
    press(&mut state, "4");
    assert_eq!(state.pane, Pane::Table);
    point(&mut state, Gesture::WheelDown, Target::Details);
    assert_eq!((state.pane.scroll(), state.place().at), (1, 0));
    update(&mut state, Msg::Resized(Size { width: 60, height: 12 }));
    assert_eq!(state.pane, Pane::Table, "there is no pane");
}

proptest::proptest! {
    #[test]
    fn no_sequence_of_keys_loses_the_selection(
        keys in "[jkhlgGnNsSf0-6 rmxzJyYc:?/\n\u{1b}!a-c]{0,60}",
        height in 5_u16..30,
    ) {
        let mut state = seen(testing::busy());
        update(&mut state, Msg::Resized(Size { width: 80, height }));
        press(&mut state, &keys);
        let place = state.place();
        proptest::prop_assert_eq!(state.table.rows.get(place.at).map(|row| &row.key), place.selected.as_ref());
        let lines: Vec<Option<usize>> = (0..state.visible().len()).map(|line| state.bands.row(line)).collect();
        proptest::prop_assert!(state.table.rows.is_empty() || lines.contains(&Some(place.at)));
        proptest::prop_assert!(lines.len() <= state.page());
        for (row, at) in state.visible().iter().zip(lines) {
            let key = at.and_then(|at| state.table.rows.get(at)).map(|row| &row.key);
            proptest::prop_assert!(key.is_none_or(|key| *key == row.key));
        }
    }
}
