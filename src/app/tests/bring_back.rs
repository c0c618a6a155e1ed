//! Bringing dead windows back.

use super::*;
use crate::core::model::{Need, NeedKind, Remains};
use crate::core::plan::bring_back::ClosedWindow;

const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

fn remains() -> Remains {
    Remains {
        name: "search".into(),
        session: Some(SESSION.into()),
        format: "claude-code",
        cwd: Some("/home/dev/a b".into()),
        claims: Vec::new(),
        unproven: 0,
        is_end_seen: false,
        uncommitted: 3,
        lost: 0,
        left_overs: Vec::new(),
        left_trees: Vec::new(),
        left_stashes: Vec::new(),
    }
}

fn closed(refusal: Option<&str>) -> ClosedWindow {
    ClosedWindow {
        key: key("r-gamma"),
        name: "search\u{1b}[31m".into(),
        agent: "claude-code",
        session: SESSION.into(),
        folder: Some("/home/dev/a b".into()),
        doing: Some("Index the catalogue".into()),
        last_seen_at: now() - SignedDuration::from_mins(5),
        command: Some(format!("claude --resume {SESSION}")),
        refusal: refusal.map(str::to_owned),
    }
}

/// A screen on which the dead window is selected.
fn at_the_dead() -> State {
    let mut report = testing::busy();
    let need =
        Need { key: key("n-died"), subject: key("r-gamma"), kind: NeedKind::Died(remains()), since: None };
    report.needs = vec![need];
    let mut state = State::new(Options::default(), Size { width: 80, height: 24 }, now());
    look(&mut state, report);
    press(&mut state, "1g");
    state
}

#[test]
fn two_keys_bring_a_dead_window_back() {
    let mut state = at_the_dead();
    assert_eq!(press(&mut state, "R"), [Effect::FindClosed, Effect::Redraw]);
    assert!(panel_text(&state).contains("Looking whether anything alive"), "{}", panel_text(&state));
    assert!(!press(&mut state, "y").iter().any(|one| matches!(one, Effect::BringBack(_))), "not seen yet");
    update(&mut state, Msg::Closed(Arc::new(vec![closed(None)]), "in a new window of this tmux"));
    let text = panel_text(&state);
    let parts = [
        "y brings back 1 window in a new window of this tmux",
        "search\\x1B[31m",
        "Index the catalogue",
        "cd '/home/dev/a b' && claude --resume",
    ];
    parts.iter().for_each(|part| assert!(text.contains(part), "{part} is missing in:\n{text}"));
    assert_eq!(press(&mut state, "y"), [Effect::BringBack(vec![SESSION.into()]), Effect::Redraw]);
    assert!(!press(&mut state, "y").iter().any(|one| matches!(one, Effect::BringBack(_))), "once is enough");
    update(&mut state, Msg::BroughtBack(SESSION.into(), "opened in a new window of this tmux".to_owned()));
    assert!(panel_text(&state).contains("Now"), "{}", panel_text(&state));
}

#[test]
fn what_may_live_is_not_brought_back() {
    let mut state = at_the_dead();
    press(&mut state, "R");
    let why = "claude 4711 may run its session: which one it runs is not known";
    update(&mut state, Msg::Closed(Arc::new(vec![closed(Some(why))]), "in a new window of this tmux"));
    assert!(panel_text(&state).contains("claude 4711 may run its session"), "{}", panel_text(&state));
    assert!(!press(&mut state, "y").iter().any(|one| matches!(one, Effect::BringBack(_))));
    update(&mut state, Msg::Closed(Arc::new(Vec::new()), "in a new window of this tmux"));
    assert!(panel_text(&state).contains("Its session runs again"), "{}", panel_text(&state));
}
