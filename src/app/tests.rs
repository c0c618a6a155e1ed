//! Keys and reports go in, states come out.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::config::Access;
use crate::core::journal::{Ended, History};
use crate::core::key::Key;
use crate::core::plan::{Action, Confirmation, Offer, Place, Request, Told, plan_for};
use crate::core::report::Report;

use super::filter::Focus;
use super::geometry::Size;
use super::layer::Layer;
use super::msg::{Confirmed, Effect, Hints, Msg, Pointer, Press};
use super::sheet::Stage;
use super::state::{Options, State};
use super::summary::summary;
use super::testing::{self, key, now};
use super::view::View;
use super::{pages, update};

/// A state that has seen a report, at 80x24.
fn seen(report: Report) -> State {
    let mut state = State::new(Options::default(), Size { width: 80, height: 24 }, now());
    look(&mut state, report);
    state
}

fn look(state: &mut State, report: Report) -> Vec<Effect> {
    update(state, Msg::Looked(Arc::new(report)))
}

/// Presses keys as they would be typed; `\n` is Enter, `\t` Tab, `\u{1b}` Esc.
fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    let as_press = |c| match c {
        '\n' => Press::Enter,
        '\t' => Press::Tab,
        '\u{1b}' => Press::Esc,
        c => Press::Char(c),
    };
    keys.chars().fold(Vec::new(), |_, c| update(state, Msg::Pressed(as_press(c))))
}

fn shown(state: &State) -> Vec<&str> {
    state.table.rows.iter().map(|row| row.key.as_str()).collect()
}

#[track_caller]
fn check_selected(keys: &str, expected: &str) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    assert_eq!(state.selected().map(Key::as_str), Some(expected));
}

#[test]
fn the_worst_window_comes_first_and_is_selected() {
    let state = seen(testing::busy());
    assert_eq!(shown(&state), ["w-4711", "w-4890", "w-5333", "w-6200", "w-5120", "w-6001"]);
    check_selected("", "w-4711");
}

#[test]
fn claims_that_may_be_let_go_stand_above_those_that_are_held() {
    let mut state = seen(testing::busy());
    press(&mut state, "3");
    let sorted =
        ["c-SD-101", "c-SD-099", "c-feature/old", "c-entire.lock", "c-lock", "c-search", "c-reviewer"];
    assert_eq!(shown(&state), sorted);
}

#[test]
fn among_sessions_with_equal_trouble_the_dead_come_first() {
    let mut report = testing::busy();
    report.records.reverse();
    let mut state = seen(report);
    press(&mut state, "2");
    assert_eq!(shown(&state), ["r-alpha", "r-gamma", "r-delta", "r-beta", "r-epsilon"]);
}

#[test]
fn keys_move_the_selection_and_stop_at_the_ends() {
    check_selected("j", "w-4890");
    check_selected("jjk", "w-4890");
    check_selected("k", "w-4711");
    check_selected("G", "w-6001");
    check_selected("Gjjg", "w-4711");
}

#[test]
fn n_goes_round_the_rows_with_problems() {
    check_selected("n", "w-4890");
    check_selected("nnn", "w-6200");
    check_selected("nnnn", "w-4711");
    check_selected("N", "w-6200");
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
    press(&mut state, "jj3j\t");
    assert_eq!(state.view, View::Problems);
    press(&mut state, "1");
    assert_eq!(state.selected(), Some(&key("w-5333")));
    press(&mut state, "3");
    assert_eq!(state.selected(), Some(&key("c-SD-099")));
}

#[test]
fn every_view_shows_its_things() {
    let mut state = seen(testing::busy());
    for (keys, rows) in [("1", 6), ("2", 5), ("3", 7), ("4", 6), ("5", 0)] {
        press(&mut state, keys);
        assert_eq!(state.table.rows.len(), rows, "view {keys}");
    }
}

#[track_caller]
fn check_filter(text: &str, expected: &[&str]) {
    let mut state = seen(testing::busy());
    press(&mut state, &format!("/{text}\n"));
    assert_eq!(shown(&state), expected);
}

#[test]
fn the_filter_looks_into_every_cell_in_any_case() {
    check_filter("CART", &["w-4711", "w-4890"]);
    check_filter("5120", &["w-5120"]);
    check_filter("suspended", &["w-5333"]);
    check_filter("!claude", &["w-5333", "w-5120", "w-6001"]);
    check_filter("!", &["w-4711", "w-4890", "w-5333", "w-6200", "w-5120", "w-6001"]);
    check_filter("no such thing", &[]);
}

#[test]
fn the_filter_takes_keys_until_it_is_kept_or_cleared() {
    let mut state = seen(testing::busy());
    press(&mut state, "/q");
    assert_eq!((state.filter.focus, state.filter.text.as_str()), (Focus::Text, "q"));
    press(&mut state, "\n");
    assert_eq!(state.filter.focus, Focus::Table);
    press(&mut state, "\u{1b}");
    assert_eq!((state.filter.text.as_str(), state.table.rows.len()), ("", 6));
}

#[test]
fn pasted_text_is_taken_where_text_is_typed_and_acts_nowhere() {
    let mut state = seen(testing::busy());
    let paste = |state: &mut State| update(state, Msg::Pasted("r\ny\nq".to_owned()));
    assert_eq!(paste(&mut state), [Effect::Redraw]);
    assert!(state.layers.is_empty() && state.filter.text.is_empty());
    press(&mut state, "/");
    paste(&mut state);
    assert_eq!((state.filter.text.as_str(), state.filter.focus), ("ryq", Focus::Text));
}

#[test]
fn sorting_goes_through_the_columns_and_back_to_worst_first() {
    let mut state = seen(testing::busy());
    press(&mut state, "sss");
    assert_eq!(shown(&state), ["w-4711", "w-4890", "w-5120", "w-5333", "w-6001", "w-6200"]);
    press(&mut state, "S");
    assert_eq!(shown(&state)[0], "w-6200");
    assert_eq!(state.selected(), Some(&key("w-4711")));
    let rest = "s".repeat(state.table.columns.len() - 2);
    press(&mut state, &rest);
    assert_eq!(state.place().sort.by, None);
}

#[test]
fn escape_closes_one_level_and_never_quits() {
    let mut state = seen(testing::busy());
    press(&mut state, " /cart\n\nr?");
    assert_eq!(state.layers.len(), 2, "{:?}", state.layers);
    let left = |state: &State| (state.layers.len(), state.filter.text.len(), state.marks.len());
    let mut levels = Vec::new();
    for _ in 0..6 {
        let effects = press(&mut state, "\u{1b}");
        assert!(!effects.contains(&Effect::Quit));
        levels.push(left(&state));
    }
    assert_eq!(levels, [(1, 4, 1), (0, 4, 1), (0, 0, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0)]);
}

#[test]
fn q_and_control_c_quit_from_anywhere_but_the_filter_takes_a_q() {
    let mut state = seen(testing::busy());
    assert_eq!(press(&mut state, "q"), [Effect::Quit]);
    assert_eq!(press(&mut state, "\n?q"), [Effect::Quit]);
    let mut state = seen(testing::busy());
    assert_eq!(press(&mut state, "/q"), [Effect::Redraw]);
    assert_eq!(update(&mut state, Msg::Pressed(Press::Ctrl('c'))), [Effect::Quit]);
}

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
fn marks_are_kept_by_key_and_planned_together() {
    let mut state = seen(testing::busy());
    press(&mut state, "3j  1");
    assert_eq!(state.marks.len(), 2);
    press(&mut state, "3r");
    let asked = |name: &str| Request::Act { key: key(name), action: Action::Release };
    let sheet = state.sheet().unwrap();
    assert_eq!(sheet.requests, [asked("c-SD-099"), asked("c-feature/old")]);
}

/// Opens the sheet of a dead claim and answers as the files would.
fn sheet_of(keys: &str) -> (State, Vec<Effect>) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    let effects = update(&mut state, Msg::Pressed(Press::Char('r')));
    (state, effects)
}

fn offered(state: &State, code: Option<&str>) -> Msg {
    let offer = |request: &Request| {
        let Request::Act { key, action } = request else { panic!("no undo") };
        let plan = plan_for(&state.index.as_ref().unwrap().report, key, *action);
        Offer { request: request.clone(), plan: Ok((plan, code.map(str::to_owned))) }
    };
    Msg::Offered(state.sheet().unwrap().requests.iter().map(offer).collect())
}

#[test]
fn a_sheet_shows_the_plan_and_y_asks_for_it() {
    let (mut state, effects) = sheet_of("3j");
    assert!(matches!(effects.as_slice(), [Effect::Offer(_), Effect::Redraw]));
    assert!(panel_text(&state).contains("Looking at the files"));
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('y'))), [], "nothing is offered yet");
    let msg = offered(&state, None);
    update(&mut state, msg);
    let text = panel_text(&state);
    for part in ["y does it", "SD-099", "aside", "Undo", "proven dead"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    let effects = update(&mut state, Msg::Pressed(Press::Char('y')));
    assert_eq!(effects, [Effect::Act(Confirmed::Yes), Effect::Redraw]);
    let told = Told { title: "park it".to_owned(), ended: Some(Ended::Done), detail: String::new() };
    update(&mut state, Msg::Told(told));
    update(&mut state, Msg::Finished);
    assert!(panel_text(&state).contains("Done: park it"));
}

#[test]
fn a_code_must_be_typed_and_no_key_means_anything_else_meanwhile() {
    let (mut state, _) = sheet_of("3j");
    let msg = offered(&state, Some("aq7"));
    let Msg::Offered(mut offers) = msg else { unreachable!() };
    for offer in &mut offers {
        offer.plan.as_mut().unwrap().0.confirmation = Confirmation::Code;
    }
    update(&mut state, Msg::Offered(offers));
    press(&mut state, "aqx\n");
    assert!(matches!(state.sheet().unwrap().stage, Stage::Asking), "q is typed and x is wrong");
    update(&mut state, Msg::Pressed(Press::Backspace));
    update(&mut state, Msg::Pressed(Press::Char('7')));
    let effects = update(&mut state, Msg::Pressed(Press::Enter));
    assert_eq!(effects, [Effect::Act(Confirmed::Typed("aq7".to_owned())), Effect::Redraw]);
}

#[test]
fn a_sheet_disables_itself_when_the_world_moves() {
    let (mut state, _) = sheet_of("3j");
    let msg = offered(&state, None);
    update(&mut state, msg);
    look(&mut state, testing::quiet());
    assert_eq!(state.sheet().unwrap().stage, Stage::Moved);
    assert!(panel_text(&state).contains("The world has moved"));
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('y'))), []);
}

#[test]
fn read_only_shows_and_does_nothing() {
    let mut state = seen(testing::busy());
    state.options.access = Access::ReadOnly;
    press(&mut state, "3j");
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('r'))), [Effect::Redraw]);
    assert!(panel_text(&state).contains("read-only"));
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('y'))), []);
}

#[test]
fn the_history_is_listed_and_its_entries_are_undone() {
    let mut state = seen(testing::busy());
    let line = r#"{"entry":1,"at":"2026-11-20T09:00:00Z","intent":{"action":"release","title":"park x","why":"dead","movements":[]}}
{"entry":1,"at":"2026-11-20T09:00:00Z","outcome":{"ended":"done","detail":""}}"#;
    update(&mut state, Msg::History(Arc::new(History::read(line.as_bytes()))));
    press(&mut state, "5");
    assert_eq!(state.table.rows.len(), 1);
    let effects = update(&mut state, Msg::Pressed(Press::Char('z')));
    let undo = Request::Undo { entry: 1, place: Place::Own };
    assert_eq!(effects, [Effect::Offer(vec![undo.clone()]), Effect::Redraw]);
    let taken = Err("the place is taken: there is a file".to_owned());
    update(&mut state, Msg::Offered(vec![Offer { request: undo, plan: taken }]));
    let effects = update(&mut state, Msg::Pressed(Press::Char('b')));
    let beside = Request::Undo { entry: 1, place: Place::Beside };
    assert_eq!(effects, [Effect::Offer(vec![beside]), Effect::Redraw]);
}

#[test]
fn a_window_without_a_remedy_has_no_sheet() {
    let mut state = seen(testing::busy());
    press(&mut state, "m");
    assert_eq!(state.layers, []);
    assert_eq!(state.message.as_deref(), Some("There is nothing here to migrate"));
}

fn panel_text(state: &State) -> String {
    let lines = pages::panel(state).map(|panel| panel.page.lines).unwrap_or_default();
    lines.iter().map(|line| line.plain() + "\n").collect()
}

#[track_caller]
fn check_evidence(keys: &str, parts: &[&str]) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    let text = panel_text(&state);
    for part in parts {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}

#[test]
fn the_evidence_names_facts_values_sources_and_moments() {
    check_evidence("\n", &["same-worktree", "/proc/4711/cwd, 10:00:00Z", "Context ID", "SD-101", "2 h ago"]);
    check_evidence(
        "2j\n",
        &["no-process", "/proc/3999/stat", "dead-holder", "r shows how to release", "/tmp/gamma"],
    );
    check_evidence("3\n", &["two live holders", "unread", "typed confirmation", "same-process"]);
    check_evidence("4\n", &["two live windows", "About cart api 4711", "About cart tests 4890"]);
}

#[test]
fn evidence_of_what_is_gone_says_so() {
    let mut state = seen(testing::busy());
    press(&mut state, "\n");
    look(&mut state, testing::quiet());
    assert!(panel_text(&state).contains("gone since the last look"));
}

#[test]
fn panels_scroll_within_their_lines() {
    let mut state = seen(testing::busy());
    update(&mut state, Msg::Resized(Size { width: 60, height: 15 }));
    press(&mut state, "\nG");
    let lines = pages::panel(&state).map_or(0, |panel| panel.page.lines.len());
    assert_eq!(state.layers.last().map(Layer::scroll), Some(lines - state.size.panel_lines()));
    update(&mut state, Msg::Resized(Size { width: 200, height: 50 }));
    assert_eq!(state.layers.last().map(Layer::scroll), Some(0));
}

#[track_caller]
fn check_summary(keys: &str, what: &str, hint: &str) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    let said = summary(&state);
    assert_eq!((said.what.plain().as_str(), said.hint.plain().as_str()), (what, hint));
}

#[test]
fn one_sentence_says_what_is_wrong_and_which_key_helps() {
    check_summary(
        "2j",
        "dead-holder: PID 3999 is gone since 3 min and still holds SD-099",
        "r shows how to release",
    );
    check_summary("jj", "suspended-holder: PID 5333 is stopped and keeps its claims", "Enter shows why");
    check_summary("jjjj", "Nothing wrong found here", "");
    check_summary("J", "cart api is in tmux pane %0 of session $0 (socket /tmp/tmux-1000/default)", "");
    check_summary("z", "There is nothing to undo", "");
}

#[test]
fn copying_takes_what_names_the_thing() {
    let mut state = seen(testing::busy());
    assert_eq!(press(&mut state, "y")[0], Effect::Copy("4711".to_owned()));
    assert_eq!(press(&mut state, "2jy")[0], Effect::Copy("/tmp/gamma".to_owned()));
    assert_eq!(press(&mut state, "3y")[0], Effect::Copy("c-SD-101".to_owned()));
}

#[test]
fn the_help_lists_the_keys_that_are_active_and_no_others() {
    let mut state = seen(testing::busy());
    press(&mut state, "5?");
    let text = panel_text(&state);
    assert!(text.contains("Quit") && text.contains("Windows, Sessions"));
    assert!(!text.contains("filter") && !text.contains("Evidence"));
}

#[test]
fn a_click_selects_and_the_wheel_moves() {
    let mut state = seen(testing::busy());
    update(&mut state, Msg::Pointed(Pointer::Click { column: 5, line: 5 }));
    assert_eq!(state.selected(), Some(&key("w-5333")));
    update(&mut state, Msg::Pointed(Pointer::WheelUp));
    assert_eq!(state.selected(), Some(&key("w-4890")));
}

#[test]
fn lost_hints_are_told() {
    let mut state = seen(testing::busy());
    assert_eq!(update(&mut state, Msg::Hints(Hints::Lost)), [Effect::Redraw]);
    assert_eq!(state.hints, Hints::Lost);
}

proptest::proptest! {
    #[test]
    fn no_sequence_of_keys_loses_the_selection(keys in "[jkgGnNsSf1-5 rmxzJy?/\n\u{1b}!a-c]{0,60}") {
        let mut state = seen(testing::busy());
        press(&mut state, &keys);
        let place = state.place();
        proptest::prop_assert_eq!(state.table.rows.get(place.at).map(|row| &row.key), place.selected.as_ref());
        proptest::prop_assert!(place.at == 0 || (place.top..place.top + state.visible().len()).contains(&place.at));
    }
}

#[test]
fn what_has_come_and_gone_is_no_news_however_long_nobody_presses_a_key() {
    let mut state = seen(testing::quiet());
    look(&mut state, testing::busy());
    assert!(!state.news.is_empty());
    look(&mut state, testing::quiet());
    assert!(state.news.is_empty(), "{:?}", state.news);
}
