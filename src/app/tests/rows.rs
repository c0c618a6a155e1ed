//! Which rows a view shows, and in which order.

use super::*;
use crate::app::table::filter::Focus;
use crate::core::model::{Finding, WindowView};

#[test]
fn every_view_shows_its_things() {
    let mut state = seen(testing::busy());
    for (keys, rows) in [("2", 6), ("3", 5), ("4", 7), ("5", 5), ("6", 4), ("7", 0)] {
        press(&mut state, keys);
        assert_eq!(state.table.rows.len(), rows, "view {keys}");
    }
}

#[test]
fn claims_that_may_be_let_go_stand_above_those_that_are_held() {
    let mut state = seen(testing::busy());
    press(&mut state, "4");
    let sorted =
        ["c-SD-101", "c-SD-099", "c-feature/old", "c-entire.lock", "c-lock", "c-search", "c-reviewer"];
    assert_eq!(shown(&state), sorted);
}

#[test]
fn among_sessions_with_equal_trouble_the_dead_come_first() {
    let mut report = testing::busy();
    report.records.reverse();
    let mut state = seen(report);
    press(&mut state, "3");
    assert_eq!(shown(&state), ["r-alpha", "r-gamma", "r-delta", "r-beta", "r-epsilon"]);
}

#[track_caller]
fn check_cell(row: &str, column: &str, expected: &str) {
    let view = if row.starts_with("c-") { "4" } else { "2" };
    let mut state = seen(testing::busy());
    press(&mut state, view);
    let at = state.table.columns.iter().position(|own| own.title == column).unwrap();
    let visible = state.visible().iter().find(|one| one.key.as_str() == row).unwrap();
    assert_eq!(visible.cells[at].span.text(), expected);
}

#[test]
fn the_holder_of_a_claim_is_its_window_or_what_its_record_is_called() {
    check_cell("c-reviewer", "Holder", "cart tests 4890");
    check_cell("c-SD-099", "Holder", "gamma (PID 3999)");
}

#[test]
fn a_window_without_a_name_is_told_from_others_by_its_folder() {
    check_cell("w-4711", "Window", "cart api");
    check_cell("w-5120", "Window", "shop-docs (codex)");
}

#[test]
fn problems_of_one_kind_are_in_the_order_of_their_sentences() {
    let mut report = testing::busy();
    let dead = report.findings[2].clone();
    for number in [10, 2, 1] {
        let subjects = [key(&format!("r-{}", 99 - number))];
        let message = format!("dead-{number}: gone");
        let finding = Finding::new(dead.code, subjects, message, dead.evidence.clone(), dead.remedy);
        report.findings.insert(3, Arc::new(finding));
    }
    let mut state = seen(report);
    press(&mut state, "5");
    let sentence = |row: &crate::app::rows::row::Row| row.cells[2].span.text().to_owned();
    let sentences: Vec<String> = state.visible().iter().map(sentence).collect();
    let told = ["dead-1: gone", "dead-2: gone", "dead-10: gone"];
    assert!(sentences.windows(3).any(|three| three == told), "{sentences:?}");
}

#[test]
fn the_filter_finds_a_claim_by_its_record_too() {
    let mut state = seen(testing::busy());
    press(&mut state, "4/beta\n");
    assert_eq!(shown(&state), ["c-search", "c-reviewer"]);
}

#[track_caller]
fn check_filter(text: &str, expected: &[&str]) {
    let mut state = seen(testing::busy());
    press(&mut state, &format!("/{text}\n"));
    assert_eq!(shown(&state), expected);
}

#[test]
fn keys_typed_at_once_filter_like_one_after_the_other() {
    let check = |keys: &[Press]| {
        let mut one = seen(testing::busy());
        press(&mut one, "2/");
        let mut all = one.clone();
        keys.iter().for_each(|key| drop(update(&mut one, Msg::Pressed(*key))));
        let effects = update(&mut all, Msg::Typed(keys.to_vec()));
        let shown = |state: &State| {
            let keys: Vec<Key> = state.visible().iter().map(|row| row.key.clone()).collect();
            (state.filter.text.clone(), keys, state.layers.len())
        };
        assert_eq!(shown(&all), shown(&one), "{keys:?}");
        assert!(effects.contains(&Effect::Redraw));
    };
    let typed = |text: &str| text.chars().map(Press::Char).collect::<Vec<_>>();
    check(&typed("cart"));
    check(&[typed("cat"), vec![Press::Backspace], typed("rt")].concat());
    check(&[typed("x"), vec![Press::Ctrl('u')], typed("cart"), vec![Press::Enter], typed("?")].concat());
}

#[test]
fn the_filter_looks_into_every_cell_and_heeds_case_where_a_capital_is_typed() {
    check_filter("cart", &["w-4711", "w-4890"]);
    check_filter("CART", &[]);
    check_filter("!CART", &["w-4711", "w-4890", "w-5333", "w-5120", "w-6001", "w-6200"]);
    check_filter("5120", &["w-5120"]);
    check_filter("suspended", &["w-5333"]);
    check_filter("!claude", &["w-5333", "w-5120", "w-6001"]);
    check_filter("!", &["w-4711", "w-4890", "w-5333", "w-5120", "w-6001", "w-6200"]);
    check_filter("no such thing", &[]);
}

#[test]
fn the_filter_finds_folders_branches_and_files_of_whose_it_is() {
    check_filter("src/shop-docs", &["w-5120"]);
    check_filter("feature/notes", &["w-6200"]);
    let check_view = |view: &str, expected: &[&str]| {
        let mut report = testing::busy();
        edits(&mut report.windows[1], "/home/dev/src/shop-cart/src/Pay.rs");
        let mut state = seen(report);
        press(&mut state, &format!("{view}/src/pay.rs\n"));
        assert_eq!(shown(&state), expected, "view {view}");
    };
    check_view("2", &["w-4890"]);
    check_view("3", &["r-beta"]);
    check_view("4", &["c-reviewer"]);
}

/// Has a window edit a file.
fn edits(window: &mut WindowView, path: &str) {
    testing::edits(window, &[path]);
}

#[test]
fn a_filter_that_names_an_age_is_asked_again_when_time_passes() {
    let mut state = seen(testing::busy());
    press(&mut state, "/40 s\n");
    assert_eq!(shown(&state), ["w-6001"]);
    update(&mut state, Msg::Tick(now() + SignedDuration::from_secs(1)));
    assert!(shown(&state).is_empty() && state.visible().is_empty());
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
fn left_overs_that_can_be_ended_stand_first_and_the_largest_of_them_at_the_top() {
    let mut state = seen(testing::busy());
    press(&mut state, "6");
    assert_eq!(shown(&state), ["l-7001", "l-7004", "l-7002", "l-7003"]);
    press(&mut state, "/3000\n");
    assert_eq!(shown(&state), ["l-7001"]);
}

#[test]
fn a_left_over_has_its_tree_and_how_it_is_ended_on_its_page() {
    let mut state = seen(testing::busy());
    press(&mut state, "6\n");
    let page = panel_text(&state).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "x, then the code",
        "server node dev.js",
        "gamma, claude-code PID 3999, last seen 2 h ago",
        "7001",
        "210 MB",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    assert!(page.contains("listens on 127.0.0.1:3000 (no client)"), "{page}");
    press(&mut state, "\u{1b}G\n");
    let page = panel_text(&state).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("not from here: its owner is alive"), "{page}");
    assert!(page.contains("its window can, with /tasks"), "{page}");
}
