//! Windows that are done and not yet seen.

use super::{look, press, seen};
use crate::app::state::State;
use crate::core::model::{Report, WindowDoing};
use crate::core::testing;

/// Returns the busy world in which the first window does this.
fn doing(what: WindowDoing) -> Report {
    let mut report = testing::busy();
    report.windows[0].doing = Some(what);
    report
}

/// Returns the windows that are said to be done, and were not looked at.
fn done(state: &State) -> Vec<String> {
    let index = state.index.as_ref().unwrap();
    let needs = index.needs.iter().filter(|need| need.is_done());
    needs.map(|need| index.window(&need.subject).unwrap().title()).collect()
}

/// Shows Now, on whose first window the turn ends while the cursor is elsewhere.
fn finished() -> State {
    let mut state = seen(doing(WindowDoing::Working));
    press(&mut state, "1G");
    look(&mut state, doing(WindowDoing::YourTurn));
    assert_eq!(done(&state), ["cart api"]);
    state
}

#[test]
fn what_was_over_at_the_start_is_no_news() {
    let mut state = seen(doing(WindowDoing::YourTurn));
    look(&mut state, doing(WindowDoing::YourTurn));
    assert_eq!(done(&state), [""; 0]);
}

#[test]
fn a_turn_that_ends_is_told_until_the_window_is_looked_at() {
    let mut state = finished();
    look(&mut state, doing(WindowDoing::YourTurn));
    assert_eq!(done(&state), ["cart api"]);
    press(&mut state, "2gj");
    press(&mut state, "k");
    assert_eq!(done(&state), [""; 0], "its row was selected");
}

#[test]
fn a_prompt_and_a_jump_and_a_key_are_looks() {
    let mut state = finished();
    look(&mut state, doing(WindowDoing::Working));
    assert_eq!(done(&state), [""; 0], "a person gave it a prompt");
    for key in ["J", "a"] {
        let mut state = finished();
        press(&mut state, "1g");
        let is_it = |state: &State| {
            let index = state.index.as_ref().unwrap();
            index.need(state.selected().unwrap()).is_some_and(|need| need.is_done())
        };
        let mut steps = 0;
        while !is_it(&state) && steps < 50 {
            press(&mut state, "j");
            steps += 1;
        }
        assert!(is_it(&state));
        press(&mut state, key);
        assert_eq!(done(&state), [""; 0], "{key}");
    }
}

#[test]
fn a_window_that_goes_is_done_no_more() {
    let mut state = finished();
    let mut report = doing(WindowDoing::YourTurn);
    report.windows.remove(0);
    look(&mut state, report);
    assert_eq!(done(&state), [""; 0]);
}
