//! Two looks go in, changes come out.

use jiff::Timestamp;
use std::sync::Arc;

use super::*;
use crate::core::history::subject::of_window;
use crate::core::model::report::SCHEMA;
use crate::core::model::{
    ClaimStatus, ClaimView, Code, ContextId, ContextSource, Finding, Format, Key, Location, Ownership,
    Reason, Record, RecordKind, RecordView, Remedy, Report, ReportHost, Resource, ResourceKind, Role,
    StatedClaim, Verdict, VerdictState, WindowState, WindowView,
};

fn report() -> Report {
    Report {
        schema: SCHEMA,
        taken_at: Timestamp::UNIX_EPOCH,
        host: ReportHost { name: "here".to_owned(), boot_id: None, pid_namespace: None },
        sources: Vec::new(),
        windows: Vec::new(),
        records: Vec::new(),
        claims: Vec::new(),
        findings: Vec::new(),
        needs: Vec::new(),
        broken: Vec::new(),
        ended: Vec::new(),
    }
}

fn window(pid: u32) -> WindowView {
    WindowView {
        key: Key::typed(&format!("w-{pid}")),
        pid,
        start_ticks: 1,
        started_at: None,
        agent: "claude-code".to_owned(),
        state: WindowState::Running,
        context_id: ContextId {
            value: pid.to_string().into(),
            source: ContextSource::AgentPid,
            stable: true,
        },
        session_id: None,
        session: None,
        place: Default::default(),
        activity: None,
        waiting: None,
        work: None,
        name: None,
        tty: None,
        pane: None,
        cwd: None,
        repo: None,
        cpu_percent: None,
        memory_bytes: None,
        records: Vec::new(),
        claims: Vec::new(),
    }
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
        evidence: Vec::new(),
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
    check(Some(&now), &report(), &[Kind::WindowGone, Kind::ClaimChanged, Kind::FindingCleared]);
}

#[test]
fn a_claim_tells_how_it_stood() {
    let before = Report { claims: vec![claim(ClaimStatus::Held)], ..report() };
    let now = Report { claims: vec![claim(ClaimStatus::Dead)], ..report() };
    let lines: Vec<String> = diff(Some(&before), &now).iter().map(|change| change.subject.told()).collect();
    assert_eq!(lines, ["work-item SD-1: dead, was held (c-0d6c0e18)"]);
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
    let json = crate::core::model::json::to_line(&diff(None, &now)).unwrap();
    assert_eq!(
        json,
        r#"[{"at":"1970-01-01T00:00:00Z","event":"window-appeared","key":"w-7","pid":7,"agent":"claude-code","state":"running","cwd":null}]"#
    );
}

proptest::proptest! {
    #[test]
    fn whatever_comes_and_goes_is_told_once(before in 0_u8.., now in 0_u8..) {
        let here = |bits: u8| (0..8).filter(move |pid| bits & (1 << pid) != 0);
        let look = |bits| Report { windows: here(bits).map(window).collect(), ..report() };
        let told = diff(Some(&look(before)), &look(now)).into_iter().map(|event| event.subject.told());
        let only = |bits| here(bits).map(|pid| Subject::told(&of_window(&window(pid))));
        let expected = only(before & !now).chain(only(now & !before));
        proptest::prop_assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}
