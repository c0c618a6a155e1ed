//! Findings: one file per family, each rule a function of the judged world.

mod entire;
mod files;
mod generations;
mod holders;
mod identity;
mod leo;
mod obra;
mod places;
mod sharing;
mod staleness;
mod tasks;

use std::collections::HashMap;

use super::assess::Judged;
use super::evidence::Evidence;
use super::finding::{Code, Finding, Remedy, Sentence};
use super::key::Key;
use super::record::{Format, Location, RecordKind};
use super::report::{ClaimView, RecordView, WindowView};
use super::shared::Shared;
use super::text::Untrusted;
use super::world::World;

/// What rules look at.
pub struct Facts<'a> {
    /// The snapshot with its windows and certain sessions.
    pub world: &'a World<'a>,
    /// The judged records.
    pub judged: &'a [Judged<'a>],
    /// The windows as shown.
    pub windows: &'a [WindowView],
    /// The records as shown, in the order of `judged`.
    pub records: &'a [RecordView],
    /// The claims as shown.
    pub claims: &'a [ClaimView],
    /// Where to find records fast.
    pub index: Index<'a>,
}

/// Finds records by key, and session records by what they tie to a window.
pub struct Index<'a> {
    by_key: HashMap<&'a Key, &'a Judged<'a>>,
    sessions: HashMap<(Format, &'a Untrusted), Vec<&'a Judged<'a>>>,
    of_session: HashMap<&'a Untrusted, Vec<&'a Judged<'a>>>,
    windows: HashMap<u32, &'a WindowView>,
}

impl<'a> Index<'a> {
    /// Indexes all judged records and windows.
    pub fn new(judged: &'a [Judged<'a>], windows: &'a [WindowView]) -> Self {
        let mut sessions: HashMap<_, Vec<_>> = HashMap::new();
        for one in judged.iter().filter(|one| one.record.kind == RecordKind::Session) {
            if let Some(context) = one.record.context_id.as_ref() {
                sessions.entry((one.record.format, context)).or_default().push(one);
            }
        }
        let mut of_session: HashMap<_, Vec<_>> = HashMap::new();
        for (session, one) in judged.iter().filter_map(|one| Some((one.record.session_id.as_ref()?, one))) {
            of_session.entry(session).or_default().push(one);
        }
        let windows = windows.iter().map(|window| (window.pid, window)).collect();
        Self { by_key: judged.iter().map(|one| (&one.key, one)).collect(), sessions, of_session, windows }
    }

    /// Returns the record of a key.
    pub(in crate::core) fn of_key(&self, key: &Key) -> Option<&'a Judged<'a>> {
        self.by_key.get(key).copied()
    }

    /// Returns every record of a session.
    pub(in crate::core) fn of_session(&self, session: &Untrusted) -> &[&'a Judged<'a>] {
        self.of_session.get(session).map_or(&[], Vec::as_slice)
    }

    /// Returns the session records of one system with one context ID.
    fn sessions(&self, format: Format, context: &'a Untrusted) -> &[&'a Judged<'a>] {
        self.sessions.get(&(format, context)).map_or(&[], Vec::as_slice)
    }
}

/// One family of rules.
type Family = for<'a> fn(&'a Facts<'a>) -> Vec<Finding>;

/// Every family.
const FAMILIES: [Family; 11] = [
    identity::findings,
    sharing::findings,
    places::findings,
    holders::findings,
    generations::findings,
    staleness::findings,
    files::findings,
    tasks::findings,
    entire::findings,
    obra::findings,
    leo::findings,
];

/// Finds everything, worst first, in a stable order.
pub fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    for family in FAMILIES {
        let found = family(facts);
        // There can be thousands: room for as many more would be a large part of what a look takes.
        all.reserve_exact(found.len());
        all.extend(found);
    }
    all.sort_by(|a, b| {
        b.severity.cmp(&a.severity).then(a.code.cmp(&b.code)).then(a.subjects.cmp(&b.subjects))
    });
    all
}

/// Builds a finding.
fn finding(
    code: Code,
    subjects: Vec<Key>,
    message: impl Into<Sentence>,
    evidence: impl Into<Shared<Evidence>>,
    remedy: Remedy,
) -> Finding {
    Finding {
        code,
        severity: code.severity(),
        subjects,
        message: message.into(),
        evidence: evidence.into(),
        remedy,
        story: None,
    }
}

/// Returns a verdict's evidence, and where its record stands.
fn with_record(judged: &Judged<'_>) -> Shared<Evidence> {
    judged.verdict.evidence.iter().chain([&judged.evidence]).cloned().collect()
}

/// States what a window is, as evidence.
pub(in crate::core) fn window_evidence(window: &WindowView) -> Evidence {
    let value = format!("{} PID {}", window.agent, window.pid);
    Evidence::new("window", value, format!("/proc/{}/stat", window.pid)).at(window.started_at)
}

/// Names a window for a sentence: its own name, or its agent, with the PID.
pub(in crate::core) fn window_name(window: &WindowView) -> String {
    match window.name.as_ref() {
        Some(name) => format!("{name} (PID {})", window.pid),
        None => format!("{} (PID {})", window.agent, window.pid),
    }
}

/// Joins names for a sentence: `a`, `a and b`, `a, b and c`.
pub(in crate::core) fn listed(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

impl<'a> Facts<'a> {
    /// Returns the window of a PID.
    pub(in crate::core) fn window(&self, pid: u32) -> Option<&'a WindowView> {
        self.index.windows.get(&pid).copied()
    }
}

/// Returns a file's name, or a whole row's, for a sentence.
pub(in crate::core) fn file_name(judged: &Judged<'_>) -> String {
    match &judged.record.location {
        Location::File(path) => path
            .file_name()
            .map_or_else(String::new, |name| Untrusted::from_path(std::path::Path::new(name)).shown()),
        Location::Row(_) => judged.record.location.text().shown(),
    }
}

/// States a number with its noun: `1 window`, `3 windows`.
fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
