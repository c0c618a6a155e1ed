//! Commands by their names, and the columns of a view.

use super::*;
use crate::app::keys::command::Command;
use crate::app::keys::keymap::BINDINGS;
use crate::app::keys::palette::matching;
use crate::app::layer::Layer;
use crate::app::table::order::Direction;
use crate::app::table::view::View;

fn names(state: &State, text: &str) -> Vec<String> {
    matching(state, text).into_iter().map(|entry| entry.name).collect()
}

#[track_caller]
fn check_first(text: &str, name: &str) {
    let state = seen(testing::busy());
    assert_eq!(names(&state, text).first().map(String::as_str), Some(name), "{text}");
}

#[test]
fn a_few_letters_find_a_command() {
    check_first("", "evidence");
    check_first("cla", "show Claims");
    check_first("sbp", "sort by PID");
    check_first("by branch", "sort by Branch");
    check_first("FREEZE", "freeze or resume");
    assert_eq!(names(&seen(testing::busy()), "nothing like it"), [""; 0]);
}

#[test]
fn every_command_with_a_name_and_every_view_is_there_once() {
    let names = names(&seen(testing::busy()), "");
    for name in BINDINGS.iter().filter_map(|binding| binding.command.name()) {
        assert_eq!(names.iter().filter(|other| **other == name).count(), 1, "{name}");
    }
    for view in View::ALL.into_iter().filter(|view| *view != View::Machines) {
        assert!(names.contains(&format!("show {}", view.title())));
    }
}

#[test]
fn a_view_without_anything_is_neither_offered_nor_explained() {
    let state = seen(testing::quiet());
    let names = names(&state, "show ");
    let shown: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("show ")).collect();
    assert_eq!(shown, state.views().map(View::title).collect::<Vec<_>>());
    let mut plain = testing::quiet();
    plain.records = Vec::new();
    plain.claims = Vec::new();
    plain.findings = Vec::new();
    let mut state = seen(plain);
    press(&mut state, "1?");
    let text = panel_text(&state);
    assert!(text.contains("1 2 6 7") && text.contains("Now, Windows, Left-overs, History"), "{text}");
    assert!(!text.contains("Sessions"), "{text}");
}

#[test]
fn enter_runs_the_chosen_command_and_escape_none() {
    let mut state = seen(testing::busy());
    press(&mut state, ":show claims\n");
    assert_eq!((state.view, state.layers.len()), (View::Claims, 0));
    press(&mut state, ":show now\u{1b}");
    assert_eq!((state.view, state.layers.len()), (View::Claims, 0));
    assert_eq!(press(&mut state, ":quit\n"), [Effect::Quit]);
    press(&mut state, ":show");
    update(&mut state, Msg::Pressed(Press::Ctrl('n')));
    update(&mut state, Msg::Pressed(Press::Down));
    update(&mut state, Msg::Pressed(Press::Ctrl('p')));
    press(&mut state, "\n");
    assert_eq!(state.view, View::Windows);
}

#[test]
fn tab_completes_what_is_chosen() {
    let mut state = seen(testing::busy());
    press(&mut state, ":clai\t");
    let Some(Layer::Palette(palette)) = state.layers.last() else { panic!("{:?}", state.layers) };
    assert_eq!(palette.text, "show Claims");
}

#[test]
fn what_does_nothing_here_comes_last_and_says_why() {
    let mut state = seen(testing::busy());
    let undo = matching(&state, "undo").into_iter().find(|entry| entry.command == Command::Undo).unwrap();
    assert_eq!(undo.why_not.as_deref(), Some("there is nothing to undo"));
    let all = matching(&state, "");
    let first_idle = all.iter().position(|entry| entry.why_not.is_some()).unwrap();
    assert!(all.iter().skip(first_idle).all(|entry| entry.why_not.is_some()));
    press(&mut state, ":undo\n");
    assert_eq!(state.message.as_deref(), Some("There is nothing to undo"));
    assert_eq!(state.layers.len(), 1, "it stays open");
}

#[test]
fn the_palette_acts_on_what_lies_beneath_it() {
    let mut state = seen(testing::busy());
    press(&mut state, "3j\n:release\n");
    assert!(matches!(state.layers.as_slice(), [Layer::Evidence { .. }, Layer::Sheet(_)]));
    press(&mut state, ":");
    assert_eq!(state.message.as_deref(), Some("A plan is open: Esc closes it"));
}

#[test]
fn pasted_text_runs_nothing() {
    let mut state = seen(testing::busy());
    press(&mut state, ":");
    update(&mut state, Msg::Pasted(format!("quit\n\r\u{1b}[A\u{7}{}", "q".repeat(1_000))));
    let Some(Layer::Palette(palette)) = state.layers.last() else { panic!("{:?}", state.layers) };
    assert!(palette.text.starts_with("quit[Aq") && palette.text.chars().count() == 100, "{}", palette.text);
}

#[test]
fn a_number_after_s_sorts_by_that_column_and_once_more_turns_it_round() {
    let mut state = seen(testing::busy());
    press(&mut state, "s3");
    assert_eq!(shown(&state), ["w-4711", "w-4890", "w-5120", "w-5333", "w-6001", "w-6200"]);
    press(&mut state, "s");
    assert_eq!(state.place().sort.by, Some(3), "s goes on to the next one");
    press(&mut state, "3");
    press(&mut state, "s0");
    assert_eq!((state.place().sort.by, state.view), (None, View::Windows));
    press(&mut state, ":sort by pid\n:sort by pid\n");
    assert_eq!((state.place().sort.by, state.place().sort.direction), (Some(2), Direction::Backward));
    press(&mut state, "sj4");
    assert_eq!(state.view, View::Claims, "the number is the view's again");
    press(&mut state, "5s9");
    assert_eq!(state.message.as_deref(), Some("No column has this number"));
}

#[test]
fn columns_are_shown_and_hidden_and_one_stays() {
    let mut state = seen(testing::busy());
    press(&mut state, "cj ");
    assert_eq!(state.place().hidden, [1].into());
    press(&mut state, " ");
    assert!(state.place().hidden.is_empty());
    press(&mut state, "j\n");
    assert_eq!(state.place().sort.by, Some(2), "Enter sorts by it");
    press(&mut state, "g");
    for _ in 0..state.table.columns.len() {
        press(&mut state, " j");
    }
    assert_eq!(state.place().hidden.len() + 1, state.table.columns.len());
    assert_eq!(press(&mut state, "q4"), [Effect::Redraw]);
    assert!(state.place().hidden.is_empty(), "each view has its own");
}
