use super::*;
use crate::app::msg::Effect;
use crate::app::state::Picture;
use crate::core::model::{ClaimStatus, EndedWindow, NeedKind, Reason, Strength};
use crate::present::need::sentence;

/// The busy machine so many seconds later, without a window; whether its end is proven.
fn without(window: &str, seconds: i64, is_proven: bool) -> Report {
    let mut report = at(seconds);
    report.windows.retain(|one| one.key != key(window));
    let ended = EndedWindow { window: key(window), reason: Reason::NoProcess };
    report.ended = if is_proven { vec![ended] } else { Vec::new() };
    report
}

fn at(seconds: i64) -> Report {
    let mut report = testing::busy();
    report.taken_at += SignedDuration::from_secs(seconds);
    // Each runs a session of its own, as far as one is known.
    for window in &mut report.windows {
        let id = format!("session-{}", window.pid);
        if let Some(session) = &mut window.session {
            session.id = id.as_str().into();
        }
    }
    report
}

/// Says what needs a person.
fn needs(state: &State) -> Vec<String> {
    let index = state.index.as_ref().unwrap();
    let says = |need| sentence(&index.report, need, state.now);
    index.needs.iter().map(says).collect()
}

fn on_now(first: Report) -> State {
    let mut state = seen(first);
    press(&mut state, "1");
    state
}

fn select(state: &mut State, row: &str) {
    press(state, "g");
    while state.selected() != Some(&key(row)) {
        let before = state.selected().cloned();
        press(state, "j");
        assert_ne!(state.selected(), before.as_ref(), "there is no row {row}");
    }
}

#[test]
fn a_window_that_dies_stays_under_the_cursor_until_a_key_acknowledges_it() {
    let mut state = on_now(at(0));
    select(&mut state, "w-5120");
    look(&mut state, without("w-5120", 12, true));
    assert_eq!(needs(&state), ["shop-docs (codex) died 0 s ago: left nothing"]);
    let death = state.selected().cloned().unwrap();
    assert_eq!(state.index.as_ref().unwrap().needs[0].key, death);
    look(&mut state, without("w-5120", 30, false));
    update(&mut state, Msg::Tick(now() + SignedDuration::from_secs(30)));
    assert_eq!(needs(&state), ["shop-docs (codex) died 18 s ago: left nothing"]);
    press(&mut state, "\n");
    assert!(panel_text(&state).contains("its process is gone; how it ended is not known"));
    press(&mut state, "\u{1b}\u{1b}");
    assert_eq!(needs(&state).len(), 1, "Esc acknowledges nothing");
    press(&mut state, "a");
    assert_eq!(needs(&state), [""; 0]);
    assert_ne!(state.selected(), Some(&death));
    look(&mut state, without("w-5120", 60, false));
    assert_eq!(needs(&state), [""; 0]);
}

#[test]
fn nobody_is_told_dead_whose_end_is_not_proven_or_who_was_not_seen_alive() {
    let mut state = on_now(at(0));
    look(&mut state, without("w-5120", 1, false));
    assert_eq!(needs(&state), [""; 0], "it is only not seen any more");
    let mut state = on_now(without("w-5120", 0, true));
    look(&mut state, without("w-5120", 1, true));
    assert_eq!(needs(&state), [""; 0], "it was never seen");
    let mut state = on_now(at(0));
    let position = crate::app::msg::Position { look: 1, of: 2, at: now() };
    update(&mut state, Msg::Stepped(position));
    look(&mut state, without("w-5120", 1, true));
    assert_eq!(needs(&state), [""; 0], "a recording has its own past");
}

#[test]
fn who_left_something_stands_before_who_left_nothing() {
    let before = at(0);
    let holder = before.windows.iter().find(|window| !window.claims.is_empty()).unwrap().clone();
    let mut state = on_now(before);
    let mut report = at(12);
    let gone = [holder.key.clone(), key("w-5120")];
    report.windows.retain(|window| !gone.contains(&window.key));
    let ended = gone.map(|window| EndedWindow { window, reason: Reason::NoProcess });
    report.ended = ended.to_vec();
    for claim in report.claims.iter_mut().filter(|claim| holder.claims.contains(&claim.key)) {
        claim.status = ClaimStatus::Dead;
    }
    look(&mut state, report);
    let told = needs(&state).into_iter().filter(|need| need.contains(" died ")).collect::<Vec<_>>();
    assert!(told.len() == 2 && told[0].contains("claim") && told[1].contains("left nothing"), "{told:?}");
}

#[test]
fn a_window_that_is_still_seen_under_another_key_has_not_died() {
    let mut there = at(0);
    let window = there.windows.iter_mut().find(|window| window.key == key("w-5120")).unwrap();
    window.key = key("w-9@web");
    there.shown_once = vec![(key("w-5120"), key("w-9@web"))];
    let says = |mut report: Report| {
        report.ended = vec![EndedWindow { window: key("w-9@web"), reason: Reason::NoProcess }];
        report
    };
    let mut state = on_now(there.clone());
    look(&mut state, says(at(5)));
    assert_eq!(needs(&state), [""; 0], "its process is seen here");
    look(&mut state, without("w-5120", 6, true));
    assert_eq!(needs(&state).len(), 1);
    let mut state = on_now(there);
    look(&mut state, without("w-5120", 5, true));
    assert_eq!(needs(&state).len(), 1, "what is proven here counts for it there");
}

#[test]
fn a_death_is_told_for_ten_minutes() {
    let mut state = on_now(at(0));
    look(&mut state, without("w-5120", 1, true));
    update(&mut state, Msg::Tick(now() + SignedDuration::from_secs(600)));
    assert_eq!(needs(&state), ["shop-docs (codex) died 9 min ago: left nothing"]);
    assert_eq!(state.changes_in(), Some(1));
    update(&mut state, Msg::Tick(now() + SignedDuration::from_secs(601)));
    assert_eq!(needs(&state), [""; 0]);
}

#[test]
fn a_resumed_session_and_a_process_that_lives_after_all_take_a_death_back() {
    let dead = || {
        let mut state = on_now(at(0));
        look(&mut state, without("w-5120", 1, true));
        assert_eq!(needs(&state).len(), 1);
        state
    };
    let resumed = |strength| {
        let mut report = without("w-5120", 2, false);
        let mut window = testing::busy().windows[2].clone();
        (window.key, window.pid) = (key("w-7000"), 7_000);
        let session = window.session.as_mut().unwrap();
        (session.id, session.strength) = ("session-5120".into(), strength);
        report.windows.push(window);
        report
    };
    let mut state = dead();
    look(&mut state, resumed(Strength::Guess));
    assert_eq!(needs(&state).len(), 1, "a guess is no resumed session");
    look(&mut state, resumed(Strength::Exact));
    assert_eq!(needs(&state), [""; 0]);
    let mut state = dead();
    look(&mut state, at(2));
    assert_eq!(needs(&state), [""; 0]);
}

#[test]
fn a_frozen_picture_tells_of_no_death_and_thaws_to_it() {
    let mut state = on_now(at(0));
    press(&mut state, "f");
    assert!(matches!(state.picture, Picture::Frozen(_)));
    look(&mut state, without("w-5120", 5, true));
    press(&mut state, "a");
    assert_eq!(needs(&state), [""; 0]);
    press(&mut state, "f");
    assert_eq!(needs(&state).len(), 1);
}

#[test]
fn all_that_it_left_is_named_released_at_once_and_its_session_is_resumed() {
    let mut first = at(0);
    let gamma = first.records.iter().position(|record| record.key == key("r-gamma")).unwrap();
    let held = first.claims.iter().position(|claim| claim.key == key("c-SD-099")).unwrap();
    first.windows[0].records = vec![first.records[gamma].key.clone()];
    first.windows[0].claims = vec![first.claims[held].key.clone(), key("c-lock")];
    let session = first.windows[0].session.as_mut().unwrap();
    session.id = "95fe798d-3725-4649-974a-0dec79220193".into();
    let mut state = on_now(first);
    look(&mut state, without("w-4711", 5, true));
    assert_eq!(needs(&state), ["cart api died 0 s ago: left 1 claim, 1 claim not proven dead"]);
    let death = state.index.as_ref().unwrap().needs[0].key.clone();
    select(&mut state, death.as_str());
    let copied = press(&mut state, "y");
    let resume = "cd /home/dev/src/shop-cart && claude --resume 95fe798d-3725-4649-974a-0dec79220193";
    assert_eq!(copied[0], Effect::Copy(resume.to_owned()));
    press(&mut state, "r");
    let sheet = state.sheet().unwrap();
    assert_eq!(sheet.requests, [crate::core::model::Request::Left { of: key("r-gamma") }]);
}

#[test]
fn among_the_windows_too_its_row_stays() {
    let mut state = seen(at(0));
    select(&mut state, "w-5120");
    look(&mut state, without("w-5120", 5, true));
    assert_eq!(state.selected(), Some(&key("w-5120")));
    let row = state.visible().iter().find(|row| row.key == key("w-5120")).unwrap();
    assert_eq!(row.cells[0].span.text(), "died");
    press(&mut state, "a");
    assert!(!shown(&state).contains(&"w-5120"));
}

#[test]
fn what_a_need_already_tells_is_told_once() {
    let mut state = on_now(at(0));
    let mut later = without("w-5120", 5, true);
    let left = crate::core::model::Remains {
        name: "docs".into(),
        session: Some("session-5120".into()),
        format: "codex",
        cwd: None,
        claims: vec![key("c-SD-099")],
        unproven: 0,
        is_end_seen: false,
        uncommitted: 2,
        lost: 0,
        left_overs: Vec::new(),
        left_trees: Vec::new(),
        left_stashes: Vec::new(),
    };
    let (key, kind) = (key("n-died"), NeedKind::Died(left));
    later.needs = vec![crate::core::model::Need { key, subject: super::key("r-gamma"), kind, since: None }];
    look(&mut state, later);
    assert_eq!(needs(&state), ["docs died 0 s ago: left 1 claim, 2 uncommitted files"]);
}
