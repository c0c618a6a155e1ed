//! What is selected, and how the selection moves and stays.

use super::*;
use crate::app::msg::Pointer;
use crate::app::view::View;

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

#[test]
fn a_click_selects_and_the_wheel_moves() {
    let mut state = seen(testing::busy());
    update(&mut state, Msg::Pointed(Pointer::Click { column: 5, line: 5 }));
    assert_eq!(state.selected(), Some(&key("w-5333")));
    update(&mut state, Msg::Pointed(Pointer::WheelUp));
    assert_eq!(state.selected(), Some(&key("w-4890")));
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
