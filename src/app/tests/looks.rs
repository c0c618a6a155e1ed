//! New looks, and the time that passes between them.

use super::*;
use crate::app::msg::{Hints, Position};
use crate::core::model::{MachineState, MachineView, ProcessId};

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
    assert_eq!(press(&mut state, "Z"), []);
    assert_eq!(look(&mut state, testing::quiet()), [Effect::Redraw]);
}

#[test]
fn ages_follow_a_clock_that_was_set_back_and_the_moments_of_a_recording() {
    let at = |seconds| {
        let mut report = testing::busy();
        report.taken_at += SignedDuration::from_secs(seconds);
        report
    };
    let mut state = seen(testing::busy());
    assert_eq!(look(&mut state, at(-3_600)), [Effect::Redraw]);
    assert_eq!(state.now, at(-3_600).taken_at);
    let position = Position { look: 2, of: 2, at: at(600).taken_at };
    update(&mut state, Msg::Stepped(position));
    assert_eq!(look(&mut state, at(600)), [Effect::Redraw]);
    assert_eq!(state.now, at(600).taken_at);
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

/// The process of the window `w-5120`.
fn codex() -> ProcessId {
    ProcessId { pid: 5120, start_ticks: 5120 * 131 }
}

#[test]
fn a_window_that_exits_is_shown_so_until_the_look_that_follows() {
    let mut state = seen(testing::busy());
    let shown = |state: &State| {
        let row = state.visible().iter().find(|row| row.key == key("w-5120")).unwrap();
        [0, 5].map(|cell| row.cells[cell].span.text().to_owned())
    };
    let before = shown(&state);
    assert_ne!(before, ["exited", ""]);
    let earlier = ProcessId { start_ticks: 1, ..codex() };
    assert_eq!(update(&mut state, Msg::Exited(earlier)), [], "it had the PID before");
    assert_eq!(update(&mut state, Msg::Exited(codex())), [Effect::Redraw]);
    assert_eq!(shown(&state), ["exited", ""]);
    assert_eq!(update(&mut state, Msg::Exited(codex())), [], "it is known");
    assert_eq!(update(&mut state, Msg::Exited(ProcessId { pid: 1, ..codex() })), [], "it is nobody's");
    update(&mut state, Msg::Tick(now() + SignedDuration::from_secs(60)));
    assert_eq!(shown(&state), ["exited", ""]);
    assert_eq!(look(&mut state, testing::busy()), [Effect::Redraw], "it lives after all");
    assert_eq!(shown(&state), before);
    press(&mut state, "f");
    assert_eq!(update(&mut state, Msg::Exited(codex())), []);
    assert_eq!(shown(&state), before, "a frozen picture stays");
}

#[test]
fn the_evidence_of_a_window_that_exits_says_so() {
    let mut state = seen(testing::busy());
    while state.selected() != Some(&key("w-5120")) {
        press(&mut state, "j");
    }
    press(&mut state, "\n");
    assert!(!panel_text(&state).contains("exited"), "{}", panel_text(&state));
    update(&mut state, Msg::Exited(codex()));
    assert!(panel_text(&state).contains("State           exited"), "{}", panel_text(&state));
}

#[test]
fn lost_hints_are_told() {
    let mut state = seen(testing::busy());
    assert_eq!(update(&mut state, Msg::Hints(Hints::Lost)), [Effect::Redraw]);
    assert_eq!(state.hints, Hints::Lost);
}

#[test]
fn a_look_that_is_joined_again_much_later_sets_no_clock_back() {
    let mut state = seen(testing::busy());
    let later: Timestamp = now() + SignedDuration::from_secs(600);
    update(&mut state, Msg::Tick(later));
    let joined =
        |seconds| Report { joined_at: Some(now() + SignedDuration::from_secs(seconds)), ..testing::busy() };
    assert_eq!(look(&mut state, joined(601)), [], "nothing else has changed");
    assert_eq!(state.now, later);
    let mut more = joined(602);
    let mut there = more.windows[0].clone();
    there.key = there.key.on_machine("devbox");
    more.windows.push(there);
    assert_eq!(look(&mut state, more), [Effect::Redraw]);
    press(&mut state, "P");
    assert_eq!(state.timeline.until(state.told_at()).count(), 1, "a picture has all that it shows");
}

/// Returns a quiet world with a machine in this state.
fn beside(machine: MachineState, there: &Report) -> Report {
    let mut report = testing::quiet();
    let mut view = MachineView::new("devbox", "ssh devbox".to_owned());
    (view.state, view.windows) = (machine, there.windows.len());
    report.machines.push(view);
    report.windows = there.windows.clone();
    report.windows.iter_mut().for_each(|window| window.key = window.key.on_machine("devbox"));
    report
}

#[test]
fn what_a_machine_tells_first_is_no_change_and_what_it_tells_next_is() {
    let changes = |state: &State| state.timeline.until(Timestamp::MAX).count();
    let (none, mut there) = (testing::quiet(), testing::busy());
    let last = there.windows.pop().unwrap();
    let mut state = seen(beside(MachineState::Connecting, &none));
    look(&mut state, beside(MachineState::Live, &there));
    assert_eq!(changes(&state), 0, "it is only reached");
    there.windows.push(last);
    look(&mut state, beside(MachineState::Silent, &there));
    assert_eq!(changes(&state), 1, "a window of a machine that was known");
}

#[test]
fn what_is_back_after_it_could_not_be_read_is_not_told_for_the_first_time() {
    let (none, there) = (testing::quiet(), testing::busy());
    let mut later = there.clone();
    let died = later.windows.pop().unwrap();
    let mut state = seen(beside(MachineState::Live, &there));
    look(&mut state, beside(MachineState::Unreached, &none));
    look(&mut state, beside(MachineState::Live, &later));
    let told: Vec<&str> = state.timeline.until(Timestamp::MAX).map(|(_, past)| &*past.told).collect();
    let (back, gone) = told.split_at(later.windows.len());
    assert!(back.iter().all(|told| told.contains(" runs in ")), "{told:?}");
    assert!(gone.contains(&&*format!("on devbox: {} is no longer seen", died.title())), "{told:?}");
}

#[test]
fn what_is_copied_of_another_machine_says_for_which_it_is() {
    let mut report = beside(MachineState::Live, &testing::busy());
    report.findings = testing::busy().findings;
    for finding in report.findings.iter_mut().map(Arc::make_mut) {
        finding.subjects = finding.subjects.iter().map(|key| key.on_machine("devbox")).collect();
    }
    let mut state = seen(report);
    for (keys, what) in [("2y", "session ID"), ("5y", "session ID")] {
        press(&mut state, keys);
        let said = state.message.take().unwrap_or_default();
        assert!(said.starts_with(&format!("Copied {what} for devbox: ")), "{said}");
    }
}
