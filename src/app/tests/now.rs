use std::sync::Arc;

use super::{look, now, panel_text, press, seen, shown};
use crate::app::msg::Effect;
use crate::app::rows::now::note;
use crate::config::preference::Preference;
use crate::core::model::{
    Action, Call, Halfway, Key, Need, NeedKind, Remains, Report, Request, RestoreTo, Target, Waiting, Wants,
};
use crate::core::testing;
use crate::core::testing::key;
use crate::present::need::sentence;
use crate::present::report_index::Index;

fn need(name: &str, subject: Key, kind: NeedKind) -> Need {
    Need { key: key(&format!("n-{name}")), subject, kind, since: None }
}

/// The busy machine, with one need of each kind.
fn needing() -> Report {
    let mut report = testing::busy();
    let call = Call {
        id: "t1".into(),
        tool: "Bash".into(),
        target: Some(Target::Command("npm publish".into())),
        since: None,
    };
    let waiting = Waiting { wants: Wants::Permission, call: Some(call), since: None };
    let finding = report.findings.first().cloned().unwrap();
    let left = Remains {
        name: "search".into(),
        session: Some("95fe798d-3725-4649-974a-0dec79220193".into()),
        format: "claude-code",
        cwd: Some("/home/dev/a b".into()),
        claims: vec![key("c-cart")],
        unproven: 0,
        is_end_seen: false,
        uncommitted: 3,
        lost: 0,
        left_overs: Vec::new(),
        left_trees: Vec::new(),
        left_stashes: Vec::new(),
    };
    let collision = NeedKind::Collision {
        code: finding.code,
        message: finding.message.clone(),
        subjects: finding.subjects.to_vec(),
        windows: finding.subjects.to_vec(),
        also: Vec::new(),
        files: Vec::new(),
    };
    report.needs = vec![
        need("waits", key("w-4890"), NeedKind::Waits { waiting, among: Vec::new() }),
        need("collision", finding.subjects[0].clone(), collision),
        need("died", key("r-gamma"), NeedKind::Died(left)),
    ];
    report
}

#[test]
fn what_needs_a_person_stands_first_whatever_is_sorted() {
    let mut state = seen(needing());
    for keys in ["1", "s", "ss", "S"] {
        press(&mut state, keys);
        assert_eq!(shown(&state)[..3], ["n-waits", "n-collision", "n-died"], "after {keys}");
        assert_eq!(shown(&state).len(), 3 + 6);
    }
}

#[test]
fn a_window_in_trouble_names_the_other_and_the_way_out() {
    let mut state = seen(needing());
    let cell = |state: &crate::app::state::State, row: &str, at: usize| {
        let row = state.visible().iter().find(|one| one.key == key(row)).unwrap();
        row.cells[at].span.text().to_owned()
    };
    assert_eq!(cell(&state, "w-4711", 3), "cart tests: git worktree add for cart tests");
    assert_eq!(cell(&state, "w-4890", 3), "cart api: git worktree add for cart tests");
    press(&mut state, "1");
    assert_eq!(cell(&state, "w-4711", 6), "cart tests");
    assert_eq!(cell(&state, "w-6200", 6), "");
}

#[test]
fn what_needs_a_person_and_is_not_shown_is_counted_by_its_kind() {
    let index = Index::new(Arc::new(needing()));
    let hidden = |keys: &[&str]| {
        let keys: Vec<_> = keys.iter().map(|name| key(name)).collect();
        note(&index, keys.iter()).line.unwrap().who.plain()
    };
    let whole = "   and 1 more waiting window, 1 collision, 1 dead window: n";
    assert_eq!(hidden(&["n-waits", "n-collision", "n-died"]), whole);
    assert_eq!(hidden(&["n-died"]), "   and 1 more dead window: n");
    assert!(hidden(&[]).contains("needs you"), "{}", hidden(&[]));
}

#[test]
fn keys_act_on_what_a_need_is_about() {
    let mut state = seen(needing());
    press(&mut state, "1gj");
    assert_eq!(state.subject(), state.index.as_ref().unwrap().nth_finding(0).map(|(key, _)| key));
    press(&mut state, "k");
    assert_eq!(state.subject(), Some(&key("w-4890")));
}

/// Returns what a report says of an action that was cut off on a machine, as the only thing that needs a person.
fn unfinished(entry: &Key) -> Report {
    let mut report = testing::busy();
    let message = "entry 7 (park it) was interrupted".into();
    let kind = NeedKind::Unfinished { message, end: Halfway::CutOff };
    report.needs = vec![need("unfinished", entry.clone(), kind)];
    report
}

#[test]
fn an_action_that_was_cut_off_is_put_right_from_its_line_where_it_was_done() {
    let mut state = seen(unfinished(&Key::of_entry(7)));
    press(&mut state, "1gz");
    let sheet = state.sheet().unwrap();
    let undo = Request::Undo { entry: 7, to: RestoreTo::Origin };
    assert_eq!((&sheet.requests[..], sheet.machine.as_deref()), (&[undo][..], None));
    // Nothing is known of that machine, so nothing is asked of it, and nothing is undone here instead.
    let report = unfinished(&Key::of_entry(7).on_machine("far"));
    let says = sentence(&report, &report.needs[0], report.taken_at);
    assert_eq!(
        says, "on far: entry 7 (park it) was interrupted: `claimtop undo 7@far` puts it right",
        "once"
    );
    let mut state = seen(report);
    press(&mut state, "1gz");
    assert!(state.sheet().is_none());
}

#[test]
fn a_death_that_was_found_and_not_seen_is_acknowledged_until_it_dies_again() {
    let mut state = seen(needing());
    press(&mut state, "1gjj");
    assert_eq!(state.selected(), Some(&key("n-died")));
    press(&mut state, "a");
    assert!(!shown(&state).contains(&"n-died"));
    look(&mut state, needing());
    assert!(!shown(&state).contains(&"n-died"));
    let mut again = needing();
    again.needs[2].since = Some(now());
    look(&mut state, again);
    assert!(shown(&state).contains(&"n-died"));
}

#[test]
fn the_line_of_many_that_died_acts_on_none_of_them() {
    let mut report = needing();
    let kind = NeedKind::MoreDied { windows: 3, claims: 3, left_overs: 0 };
    report.needs.push(need("more", key("r-gamma"), kind));
    let mut state = seen(report);
    press(&mut state, "1gjjj");
    assert_eq!(state.subject(), Some(&key("n-more")));
    press(&mut state, "r");
    assert!(state.sheet().is_none());
    press(&mut state, "\n");
    assert!(panel_text(&state).contains("Claims (4)"), "{}", panel_text(&state));
}

#[test]
fn of_a_dead_window_all_that_it_left_is_released_and_its_session_resumed() {
    let mut state = seen(needing());
    let copied = press(&mut state, "1gjjy");
    let resume = "cd '/home/dev/a b' && claude --resume 95fe798d-3725-4649-974a-0dec79220193";
    assert_eq!(copied[0], Effect::Copy(resume.to_owned()));
    press(&mut state, "r");
    let sheet = state.sheet().unwrap();
    assert_eq!(
        (sheet.action, &sheet.requests[..]),
        (Action::Release, &[Request::Left { of: key("r-gamma") }][..])
    );
}

#[test]
fn y_copies_the_command_that_is_advised() {
    let mut state = seen(needing());
    press(&mut state, "1jy");
    let command =
        "git -C /home/dev/src/shop-cart worktree add /home/dev/src/shop-cart-cart-tests -b cart-tests";
    assert_eq!(state.message.as_deref(), Some(format!("Copied the command {command}").as_str()));
}

#[test]
fn a_setting_turns_to_its_next_value_at_once() {
    let mut state = seen(needing());
    press(&mut state, ",");
    assert!(panel_text(&state).starts_with("theme       dark"), "{}", panel_text(&state));
    let effects = press(&mut state, "\n");
    assert!(effects.iter().any(|one| matches!(one, Effect::Prefer(Preference::Theme, _))), "{effects:?}");
    assert!(panel_text(&state).starts_with("theme       light"), "{}", panel_text(&state));
    press(&mut state, "j\n");
    assert!(panel_text(&state).contains("mouse       true"), "{}", panel_text(&state));
}
