//! Compares two looks and checks the changes.

use jiff::Timestamp;
use std::sync::Arc;

use super::*;
use crate::core::model::{
    ClaimStatus, ClaimView, Code, ContextId, ContextSource, EndedWindow, Finding, Format, Key, Location,
    Ownership, Reason, Record, RecordKind, RecordView, Remedy, Report, ReportHost, Resource, ResourceKind,
    Role, SourceHealth, SourceState, StatedClaim, Verdict, VerdictState, Waiting, Wants, WindowFacts,
    WindowState, WindowView,
};

fn report() -> Report {
    let host = ReportHost { name: "here".to_owned(), boot_id: None, pid_namespace: None };
    Report::empty(Timestamp::UNIX_EPOCH, host)
}

fn window(pid: u32) -> WindowView {
    WindowView::from(WindowFacts {
        key: Key::typed(&format!("w-{pid}")),
        pid,
        start_ticks: 1,
        started_at: None,
        agent: "claude-code".into(),
        state: WindowState::Running,
        doing: None,
        doing_since: None,
        is_new: false,
        stuck: None,
        context_id: ContextId {
            value: pid.to_string().into(),
            source: ContextSource::AgentPid,
            stable: true,
        },
        is_known_to_maia: false,
        session_id: None,
        session: None,
        place: Default::default(),
        may_run: Vec::new(),
        activity: None,
        waiting: None,
        work: None,
        unread: None,
        name: None,
        tty: None,
        pane: None,
        is_folder_gone: false,
        cwd: None,
        repo: None,
        processes: Vec::new(),
        more_processes: 0,
        cpu_percent: None,
        memory_bytes: None,
        records: Vec::new(),
        claims: Vec::new(),
    })
}

fn claim(status: ClaimStatus) -> ClaimView {
    let location = Location::File("/tmp/1.json".into());
    let sort = (Format::Leo, RecordKind::Session);
    let mut record = Record::blank(sort, location, Ownership::default(), Timestamp::UNIX_EPOCH);
    let resource = Resource { kind: ResourceKind::WorkItem, id: "SD-1".into() };
    let stated = StatedClaim { resource, since: None, surfaces: [].into() };
    record.claims = vec![stated.clone()];
    let verdict = Verdict {
        state: VerdictState::Unknown,
        reason: Reason::NoPid,
        in_other_namespace: false,
        evidence: [].into(),
    };
    let record = RecordView {
        key: Key::typed("r-1"),
        evidence: record.evidence(),
        record: Arc::new(record),
        role: Role::Unknown,
        verdict,
        is_stale: false,
        window: None,
        window_pid: None,
        lives_in: None,
        lives_on: None,
    };
    ClaimView::new(&Arc::new(record), &stated, (None, status))
}

fn finding(message: &str) -> Arc<Finding> {
    let subjects = [Key::typed("r-1")];
    Arc::new(Finding::new(Code::DeadHolder, subjects, message, Vec::new(), Remedy::Release))
}

#[track_caller]
fn check(before: Option<&Report>, now: &Report, expected: &[Kind]) {
    let kinds: Vec<Kind> = diff(before, now).iter().map(|event| event.event).collect();
    assert_eq!(kinds, expected);
}

#[test]
fn the_first_look_makes_everything_appear() {
    let now = Report {
        windows: vec![window(7)],
        claims: vec![claim(ClaimStatus::Held)],
        findings: vec![finding("x")],
        ..report()
    };
    check(None, &now, &[Kind::WindowAppeared, Kind::ClaimChanged, Kind::FindingRaised]);
    check(Some(&now), &now, &[]);
    let gone = [Kind::WindowUnseen, Kind::ClaimChanged, Kind::FindingCleared];
    check(Some(&now), &report(), &gone);
}

#[test]
fn a_claim_tells_how_it_stood() {
    let before = Report { claims: vec![claim(ClaimStatus::Held)], ..report() };
    let now = Report { claims: vec![claim(ClaimStatus::Dead)], ..report() };
    let changes = diff(Some(&before), &now);
    let [Change { subject: Subject::Claim { status, was, thing, .. }, .. }] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!((*status, *was), (Some(ClaimStatus::Dead), Some(ClaimStatus::Held)));
    assert_eq!(thing, "SD-1");
}

fn waiting(second: i64) -> Report {
    let since = Timestamp::from_second(second).ok();
    let waiting = Some(Box::new(Waiting { wants: Wants::Permission, call: None, since }));
    Report { windows: vec![WindowView::from(WindowFacts { waiting, ..(*window(7)).clone() })], ..report() }
}

#[test]
fn a_wait_is_told_once_and_its_end_too() {
    let busy = Report { windows: vec![window(7)], ..report() };
    check(Some(&busy), &waiting(1), &[Kind::WindowWaits]);
    check(Some(&waiting(1)), &waiting(1), &[]);
    check(Some(&waiting(1)), &waiting(2), &[Kind::WindowWaits]);
    check(Some(&waiting(2)), &busy, &[Kind::WindowChanged]);
    check(None, &waiting(1), &[Kind::WindowAppeared, Kind::WindowWaits]);
}

/// The proof that this window has ended.
fn ended(window: &str) -> Vec<EndedWindow> {
    vec![EndedWindow { window: Key::typed(window), reason: Reason::NoProcess }]
}

/// Returns what is reported of the one window that is gone.
#[track_caller]
fn end(before: &Report, now: &Report) -> WindowTurn {
    match &diff(Some(before), now)[..] {
        [
            Change {
                event: Kind::WindowGone,
                subject: Subject::Window { turn: turn @ WindowTurn::Died, .. },
                ..
            },
        ]
        | [
            Change {
                event: Kind::WindowUnseen,
                subject: Subject::Window { turn: turn @ WindowTurn::Unseen, .. },
                ..
            },
        ] => *turn,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_a_proof_says_that_a_window_has_died() {
    let before = Report { windows: vec![window(7)], ..report() };
    let with = |sources: &[(&str, SourceState)], ended: &[EndedWindow]| {
        let source =
            |(id, state): &(&str, _)| SourceHealth { id: (*id).to_owned(), state: *state, detail: "".into() };
        let sources = sources.iter().map(source).collect();
        Report { sources, ended: ended.to_vec(), ..report() }
    };
    for state in [SourceState::Ok, SourceState::Partial, SourceState::Failed] {
        assert_eq!(end(&before, &with(&[("processes", state)], &[])), WindowTurn::Unseen);
        // Silence of another machine proves nothing about a window here.
        let now = with(&[("processes", SourceState::Ok), ("machine:devbox", state)], &ended("w-7"));
        assert_eq!(end(&before, &now), WindowTurn::Died);
    }
    assert_eq!(end(&before, &with(&[], &ended("w-8"))), WindowTurn::Unseen);
}

#[test]
fn what_a_machine_has_told_that_is_out_of_sight_has_not_died() {
    let before = Report { windows: vec![there("w-9@devbox")], ..report() };
    assert_eq!(end(&before, &report()), WindowTurn::Unseen);
}

/// A window as another machine reports it.
fn there(key: &str) -> WindowView {
    WindowView::from(WindowFacts { key: Key::typed(key), ..(*window(9)).clone() })
}

#[test]
fn a_window_that_is_told_under_another_key_neither_goes_nor_comes() {
    let shown_once = vec![(Key::typed("w-7"), Key::typed("w-9@web"))];
    let here = Report { windows: vec![window(7)], ..report() };
    let there = Report { windows: vec![there("w-9@web")], shown_once, ..report() };
    check(Some(&here), &there, &[]);
    check(Some(&there), &here, &[]);
    // Whatever that machine reports, its process is still seen here.
    check(Some(&there), &Report { ended: ended("w-9@web"), ..here.clone() }, &[]);
    for key in ["w-7", "w-9@web"] {
        assert_eq!(end(&there, &Report { ended: ended(key), ..report() }), WindowTurn::Died, "{key}");
    }
    assert_eq!(end(&there, &report()), WindowTurn::Unseen);
}

#[test]
fn of_what_was_seen_here_nobody_else_proves_an_end_while_not_all_processes_were_read() {
    let shown_once = vec![(Key::typed("w-7"), Key::typed("w-77@twin"))];
    let before = Report { windows: vec![there("w-77@twin")], shown_once, ..report() };
    let now = |state, ended: &[EndedWindow]| {
        let processes = SourceHealth { id: "processes".to_owned(), state, detail: "".into() };
        Report { sources: vec![processes], ended: ended.to_vec(), ..report() }
    };
    let (twin, here) = (ended("w-77@twin"), ended("w-7"));
    assert_eq!(end(&before, &now(SourceState::Ok, &twin)), WindowTurn::Died);
    assert_eq!(end(&before, &now(SourceState::Partial, &twin)), WindowTurn::Unseen);
    assert_eq!(end(&before, &now(SourceState::Partial, &here)), WindowTurn::Died);
}

#[test]
fn a_wait_that_is_told_under_another_key_is_told_once() {
    let there = |second| {
        let waiting = waiting(second).windows[0].waiting.clone();
        let facts = WindowFacts { key: Key::typed("w-9@web"), waiting, ..(*window(9)).clone() };
        let shown_once = vec![(Key::typed("w-7"), Key::typed("w-9@web"))];
        Report { windows: vec![WindowView::from(facts)], shown_once, ..report() }
    };
    check(Some(&waiting(1)), &there(1), &[]);
    check(Some(&waiting(1)), &there(2), &[Kind::WindowWaits]);
}

#[test]
fn what_another_machine_does_is_dated_by_when_it_was_joined() {
    let second = |second| Timestamp::from_second(second).unwrap();
    let with = |taken, joined, windows: &[WindowView]| {
        let (taken_at, joined_at) = (second(taken), Some(second(joined)));
        Report { taken_at, joined_at, windows: windows.to_vec(), ..report() }
    };
    let dates = |before: &Report, now: &Report| {
        let date = |change: &Change| (change.subject.keys()[0].to_string(), change.at.as_second());
        diff(Some(before), now).iter().map(date).collect::<Vec<_>>()
    };
    let (here, far) = (("w-7".to_owned(), 20), ("w-9@web".to_owned(), 26));
    let both = with(20, 26, &[there("w-9@web"), window(7)]);
    assert_eq!(dates(&with(10, 16, &[]), &both), [here, far], "in their order");
    assert_eq!(dates(&both, &with(20, 28, &[window(7)])), [("w-9@web".to_owned(), 28)]);
    // There was no look here since: the change comes from another machine's data.
    assert_eq!(dates(&both, &with(20, 28, &[there("w-9@web")])), [("w-7".to_owned(), 28)]);
    // The clock was set back.
    assert_eq!(dates(&both, &with(30, 28, &[window(7)])), [("w-9@web".to_owned(), 30)]);
}

#[test]
fn a_message_that_counts_time_raises_nothing_anew() {
    let before = Report { findings: vec![finding("deleted after 5 min")], ..report() };
    let now = Report { findings: vec![finding("deleted after 4 min")], ..report() };
    check(Some(&before), &now, &[]);
}

#[test]
fn an_event_is_one_flat_object() {
    let now = Report { windows: vec![window(7)], ..report() };
    let json = crate::core::model::text::json::to_line(&diff(None, &now)).unwrap();
    assert_eq!(
        json,
        r#"[{"at":"1970-01-01T00:00:00Z","event":"window-appeared","key":"w-7","pid":7,"agent":"claude-code","state":"running","doing":null,"cwd":null,"name":"claude-code"}]"#
    );
}

proptest::proptest! {
    #[test]
    fn whatever_comes_and_goes_is_told_once(before in 0_u8.., now in 0_u8..) {
        let here = |bits: u8| (0..8).filter(move |pid| bits & (1 << pid) != 0);
        let look = |bits| Report { windows: here(bits).map(window).collect(), ..report() };
        let told = diff(Some(&look(before)), &look(now)).into_iter().map(|event| event.subject.keys());
        let only = |bits| here(bits).map(|pid| vec![window(pid).key.clone()]);
        let expected = only(before & !now).chain(only(now & !before));
        proptest::prop_assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}
