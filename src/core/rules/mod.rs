//! Findings: one file per family, each rule a function of the judged world.

mod entire;
mod files;
mod generations;
mod holders;
mod identity;
mod leo;
mod obra;
mod places;
mod registry;
mod sharing;
mod staleness;
mod tasks;

use std::cmp::Ordering;
use std::collections::HashMap;

pub(super) use self::holders::says_dead;
pub(super) use self::registry::{entries, gone_entry};
use super::assess::Judged;
use super::evidence::Evidence;
use super::finding::Finding;
use super::heirs::Heirs;
use super::key::Key;
use super::record::{Format, Location, RecordKind};
use super::report::{ClaimView, WindowView};
use super::text::Untrusted;
use super::world::World;

/// What rules look at.
pub struct Facts<'a> {
    /// The snapshot with its windows and certain sessions.
    pub world: &'a World<'a>,
    /// The windows as shown.
    pub windows: &'a [WindowView],
    /// The judged records.
    pub records: &'a [Judged],
    /// The claims as shown.
    pub claims: &'a [ClaimView],
    /// Who may use what the dead have left.
    pub heirs: Heirs<'a>,
    /// Where to find records fast.
    pub index: Index<'a>,
}

/// Finds records by key, and session records by what they tie to a window.
pub struct Index<'a> {
    by_key: Vec<&'a Judged>,
    /// The session records, in the order of their systems and context IDs.
    sessions: Vec<&'a Judged>,
    of_session: Vec<&'a Judged>,
    windows: HashMap<u32, &'a WindowView>,
}

impl<'a> Index<'a> {
    /// Indexes all judged records and windows.
    pub fn new(judged: &'a [Judged], windows: &'a [WindowView]) -> Self {
        let is_session = |one: &&Judged| one.record.kind == RecordKind::Session;
        let mut by_key: Vec<_> = judged.iter().collect();
        let mut sessions: Vec<_> = judged.iter().filter(is_session).collect();
        let mut of_session: Vec<_> = judged.iter().filter(|one| one.record.session_id.is_some()).collect();
        by_key.sort_by_key(|one| &one.key);
        sessions.sort_by_key(|one| context(one));
        of_session.sort_by_key(|one| one.record.session_id.as_ref());
        let windows = windows.iter().map(|window| (window.pid, window)).collect();
        Self { by_key, sessions, of_session, windows }
    }

    /// Returns the record of a key.
    pub(in crate::core) fn of_key(&self, key: &Key) -> Option<&'a Judged> {
        equal(&self.by_key, |one| one.key.cmp(key)).last().copied()
    }

    /// Returns every record of a session.
    pub(in crate::core) fn of_session(&self, session: &Untrusted) -> &[&'a Judged] {
        equal(&self.of_session, |one| one.record.session_id.as_ref().cmp(&Some(session)))
    }

    /// Returns the session records of one system with one context ID.
    fn sessions(&self, format: Format, context: &Untrusted) -> &[&'a Judged] {
        equal(&self.sessions, |one| self::context(one).cmp(&(format, Some(context))))
    }
}

/// Returns what ties a session record to a window.
fn context(judged: &Judged) -> (Format, Option<&Untrusted>) {
    (judged.record.format, judged.record.context_id.as_ref())
}

/// Returns the run of those in a sorted list that compare equal.
pub(super) fn equal<T>(sorted: &[T], order: impl Fn(&T) -> Ordering) -> &[T] {
    let from = sorted.partition_point(|one| order(one).is_lt());
    let rest = sorted.get(from..).unwrap_or_default();
    rest.get(..rest.partition_point(|one| order(one).is_eq())).unwrap_or_default()
}

/// One family of rules.
type Family = for<'a> fn(&'a Facts<'a>, &mut Vec<Finding>);

/// Every family.
const FAMILIES: [Family; 12] = [
    identity::findings,
    sharing::findings,
    places::findings,
    holders::findings,
    registry::findings,
    generations::findings,
    staleness::findings,
    files::findings,
    tasks::findings,
    entire::findings,
    obra::findings,
    leo::findings,
];

/// Finds everything, worst first, in a stable order; what an earlier report has found just so is
/// taken from there.
pub fn findings(facts: &Facts<'_>, earlier: &[Finding]) -> Vec<Finding> {
    let mut all = Vec::with_capacity(earlier.len());
    for family in FAMILIES {
        let from = all.len();
        family(facts, &mut all);
        let found = all.get_mut(from..).unwrap_or_default();
        found.sort_unstable_by(Finding::order);
        share(found, earlier);
    }
    staleness::leave_out_users(&mut all);
    all.sort_unstable_by(Finding::order);
    all.shrink_to_fit();
    all
}

/// Puts those of an earlier report, which are in order as well, in the place of equal ones.
fn share(found: &mut [Finding], earlier: &[Finding]) {
    let mut earlier = earlier.iter().peekable();
    for finding in found {
        while earlier.next_if(|one| one.order(finding).is_lt()).is_some() {}
        if let Some(same) = earlier.peek().filter(|one| **one == finding) {
            *finding = Finding::clone(same);
        }
    }
}

/// States what a window is, as evidence.
pub(in crate::core) fn window_evidence(window: &WindowView) -> Evidence {
    Evidence::new("window", window_name(window), format!("/proc/{}/stat", window.pid)).at(window.started_at)
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
pub(in crate::core) fn file_name(judged: &Judged) -> String {
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
