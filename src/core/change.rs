//! What differs between two looks, as changes of windows, records, claims and findings.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::finding::{Code, Finding, Sentence, Severity};
use super::key::Key;
use super::record::{Format, Location, Resource};
use super::report::{
    ClaimStatus, ClaimView, Reason, RecordView, Report, VerdictState, WindowState, WindowView,
};
use super::shared::Shared;
use super::text::{Untrusted, shown};

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// When the look that shows it was finished.
    pub at: Timestamp,
    /// What happened.
    pub event: Kind,
    /// To what.
    #[serde(flatten)]
    pub subject: Subject,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An agent runs.
    WindowAppeared,
    /// An agent was stopped or went on, or has another session or folder.
    WindowChanged,
    /// An agent runs no more.
    WindowGone,
    /// A record is there.
    RecordAppeared,
    /// A record was written, or its verdict changed.
    RecordChanged,
    /// A record is there no more.
    RecordGone,
    /// A claim came, changed its status or went.
    ClaimChanged,
    /// A problem came up.
    FindingRaised,
    /// A problem is gone.
    FindingCleared,
}

impl Kind {
    /// Returns the name that the interface fixes.
    pub fn name(self) -> &'static str {
        match self {
            Self::WindowAppeared => "window-appeared",
            Self::WindowChanged => "window-changed",
            Self::WindowGone => "window-gone",
            Self::RecordAppeared => "record-appeared",
            Self::RecordChanged => "record-changed",
            Self::RecordGone => "record-gone",
            Self::ClaimChanged => "claim-changed",
            Self::FindingRaised => "finding-raised",
            Self::FindingCleared => "finding-cleared",
        }
    }
}

/// What an event is about, with what is needed to tell it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Subject {
    /// A window.
    Window {
        /// Its key.
        key: Key,
        /// Its PID.
        pid: u32,
        /// Which agent.
        agent: String,
        /// What its process does.
        state: WindowState,
        /// Its working directory.
        cwd: Option<Untrusted>,
    },
    /// A record.
    Record {
        /// Its key.
        key: Key,
        /// The system that wrote it.
        format: Format,
        /// Its session.
        session_id: Option<Untrusted>,
        /// Its short name.
        title: Untrusted,
        /// Whether its holder lives.
        verdict: VerdictState,
        /// The rule that decided.
        reason: Reason,
        /// Where it is.
        #[serde(serialize_with = "super::report::location")]
        location: Location,
    },
    /// A claim.
    Claim {
        /// Its key.
        key: Key,
        /// What is held.
        resource: Resource,
        /// How it stands; nothing when it is gone.
        status: Option<ClaimStatus>,
        /// How it stood; nothing when it is new.
        was: Option<ClaimStatus>,
        /// The record that states it.
        record: Key,
    },
    /// A problem.
    Finding {
        /// Its code.
        code: Code,
        /// How bad it is.
        severity: Severity,
        /// What it is about.
        subjects: Shared<Key>,
        /// What is wrong.
        message: Sentence,
    },
}

/// Returns what changed from one look to the next; without an earlier look everything that is
/// there appears.
pub fn diff(before: Option<&Report>, now: &Report) -> Vec<Change> {
    let mut subjects = Vec::new();
    windows(before.map_or(&[], |report| &report.windows), &now.windows, &mut subjects);
    records(before.map_or(&[], |report| &report.records), &now.records, &mut subjects);
    claims(before.map_or(&[], |report| &report.claims), &now.claims, &mut subjects);
    findings(before.map_or(&[], |report| &report.findings), &now.findings, &mut subjects);
    subjects.into_iter().map(|(event, subject)| Change { at: now.taken_at, event, subject }).collect()
}

type Told = Vec<(Kind, Subject)>;

fn windows(before: &[WindowView], now: &[WindowView], told: &mut Told) {
    let earlier = by_key(before, |window| &window.key);
    let later = by_key(now, |window| &window.key);
    for gone in before.iter().filter(|window| !later.contains_key(&window.key)) {
        told.push((Kind::WindowGone, of_window(gone)));
    }
    for window in now {
        match earlier.get(&window.key) {
            None => told.push((Kind::WindowAppeared, of_window(window))),
            Some(other) if has_moved(other, window) => told.push((Kind::WindowChanged, of_window(window))),
            Some(_) => {}
        }
    }
}

/// What an agent says of itself and its load change all the time, and nothing follows from it.
fn has_moved(before: &WindowView, now: &WindowView) -> bool {
    before.state != now.state
        || before.session_id != now.session_id
        || before.cwd != now.cwd
        || before.context_id != now.context_id
}

fn records(before: &[RecordView], now: &[RecordView], told: &mut Told) {
    let earlier = by_key(before, |record| &record.key);
    let later = by_key(now, |record| &record.key);
    for gone in before.iter().filter(|record| !later.contains_key(&record.key)) {
        told.push((Kind::RecordGone, of_record(gone)));
    }
    for record in now {
        match earlier.get(&record.key) {
            None => told.push((Kind::RecordAppeared, of_record(record))),
            Some(other) if is_changed(other, record) => told.push((Kind::RecordChanged, of_record(record))),
            Some(_) => {}
        }
    }
}

/// Evidence carries times of its own and says nothing that verdict and file do not.
fn is_changed(before: &RecordView, now: &RecordView) -> bool {
    before.verdict.state != now.verdict.state
        || before.verdict.reason != now.verdict.reason
        || before.written_at != now.written_at
        || before.session_id != now.session_id
        || before.window != now.window
        || before.has_ended != now.has_ended
        || before.is_stale != now.is_stale
}

fn claims(before: &[ClaimView], now: &[ClaimView], told: &mut Told) {
    let earlier = by_key(before, |claim| &claim.key);
    let later = by_key(now, |claim| &claim.key);
    for gone in before.iter().filter(|claim| !later.contains_key(&claim.key)) {
        told.push((Kind::ClaimChanged, of_claim(gone, None, Some(gone.status))));
    }
    for claim in now {
        let was = earlier.get(&claim.key).map(|other| other.status);
        if was != Some(claim.status) {
            told.push((Kind::ClaimChanged, of_claim(claim, Some(claim.status), was)));
        }
    }
}

/// A problem is the same for as long as code and subjects are: its message may count seconds.
fn findings(before: &[Finding], now: &[Finding], told: &mut Told) {
    let cleared = missing(before, now).map(|finding| (Kind::FindingCleared, of_finding(finding)));
    told.extend(cleared);
    let raised = missing(now, before).map(|finding| (Kind::FindingRaised, of_finding(finding)));
    told.extend(raised);
}

/// Returns the findings that others do not have.
fn missing<'a>(findings: &'a [Finding], others: &'a [Finding]) -> impl Iterator<Item = &'a Finding> {
    let mut known: Vec<Identity<'_>> = others.iter().map(identity).collect();
    known.sort_unstable();
    findings.iter().filter(move |finding| known.binary_search(&identity(finding)).is_err())
}

/// The code, and the subjects in their order.
type Identity<'a> = (Code, Cow<'a, [Key]>);

fn identity(finding: &Finding) -> Identity<'_> {
    let mut subjects = Cow::Borrowed(&*finding.subjects);
    if !subjects.is_sorted() {
        subjects.to_mut().sort_unstable();
    }
    (finding.code, subjects)
}

fn by_key<T>(all: &[T], key: impl Fn(&T) -> &Key) -> BTreeMap<Key, &T> {
    all.iter().map(|one| (key(one).clone(), one)).collect()
}

fn of_window(window: &WindowView) -> Subject {
    Subject::Window {
        key: window.key.clone(),
        pid: window.pid,
        agent: window.agent.clone(),
        state: window.state,
        cwd: window.cwd.clone(),
    }
}

fn of_record(record: &RecordView) -> Subject {
    Subject::Record {
        key: record.key.clone(),
        format: record.format,
        session_id: record.session_id.clone(),
        title: record.title.clone(),
        verdict: record.verdict.state,
        reason: record.verdict.reason,
        location: record.location.clone(),
    }
}

fn of_claim(claim: &ClaimView, status: Option<ClaimStatus>, was: Option<ClaimStatus>) -> Subject {
    Subject::Claim {
        key: claim.key.clone(),
        resource: claim.resource.clone(),
        status,
        was,
        record: claim.record.clone(),
    }
}

fn of_finding(finding: &Finding) -> Subject {
    Subject::Finding {
        code: finding.code,
        severity: finding.severity,
        subjects: finding.subjects.clone(),
        message: finding.message.clone(),
    }
}

impl Subject {
    /// Returns the keys of what it is about, its own first.
    pub fn keys(&self) -> Vec<Key> {
        match self {
            Self::Window { key, .. } | Self::Record { key, .. } => vec![key.clone()],
            Self::Claim { key, record, .. } => vec![key.clone(), record.clone()],
            Self::Finding { subjects, .. } => subjects.to_vec(),
        }
    }

    /// Tells it in one line, safe to show.
    pub fn told(&self) -> String {
        match self {
            Self::Window { key, pid, agent, cwd, .. } => {
                let folder = cwd.as_ref().map_or_else(String::new, |cwd| format!(" in {cwd}"));
                format!("{key} {} {pid}{folder}", shown(agent))
            }
            Self::Record { key, format, title, verdict, reason, location, .. } => {
                let (word, why) = (verdict.name(), reason.name());
                format!("{key} {} {title}: {word} ({why}) {location}", format.name())
            }
            Self::Claim { key, resource, status, was, .. } => {
                let now = status.map_or("gone", ClaimStatus::name);
                let was = was.map_or_else(String::new, |was| format!(", was {}", was.name()));
                format!("{key} {} {}: {now}{was}", resource.kind.name(), resource.id)
            }
            Self::Finding { code, severity, message, .. } => {
                format!("{} {}: {}", severity.name(), code.name(), shown(&message.to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::{Detected, Remedy};
    use super::super::record::ResourceKind;
    use super::super::report::{ContextId, ContextSource, Releasable, ReportHost, SCHEMA};
    use super::*;

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
        ClaimView {
            key: Key::typed("c-1"),
            resource: Resource { kind: ResourceKind::WorkItem, id: "SD-1".into() },
            record: Key::typed("r-1"),
            window: None,
            since: None,
            status,
            surfaces: Vec::new().into(),
            releasable: Releasable::Confirm,
        }
    }

    fn finding(message: &str) -> Finding {
        Detected {
            code: Code::DeadHolder,
            severity: Code::DeadHolder.severity(),
            subjects: [Key::typed("r-1")].into(),
            message: message.into(),
            evidence: Vec::new().into(),
            remedy: Remedy::Release,
            story: None,
        }
        .into()
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
        let lines: Vec<String> =
            diff(Some(&before), &now).iter().map(|change| change.subject.told()).collect();
        assert_eq!(lines, ["c-1 work-item SD-1: dead, was held"]);
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
        let json = super::super::json::to_line(&diff(None, &now)).unwrap();
        assert_eq!(
            json,
            r#"[{"at":"1970-01-01T00:00:00Z","event":"window-appeared","key":"w-7","pid":7,"agent":"claude-code","state":"running","cwd":null}]"#
        );
    }
}
