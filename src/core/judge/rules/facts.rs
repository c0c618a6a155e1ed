//! What rules look at, and how they name things.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::core::judge::successors::Successors;
use crate::core::judge::world::World;
use crate::core::model::{
    Binding, ClaimView, Evidence, Format, Judged, Key, Location, Record, RecordKind, Untrusted, WindowView,
};

/// What rules look at.
pub(crate) struct Facts<'a> {
    /// The snapshot with its windows and certain sessions.
    pub(crate) world: &'a World<'a>,
    /// The windows as shown.
    pub(crate) windows: &'a [WindowView],
    pub(crate) records: &'a [Judged],
    /// The claims as shown.
    pub(crate) claims: &'a [ClaimView],
    /// Who may use what the dead have left.
    pub(crate) successors: Successors<'a>,
    /// Where to find records fast.
    pub(crate) index: Index<'a>,
}

/// Finds records by key, and session records by what they tie to a window.
pub(crate) struct Index<'a> {
    pub(crate) by_key: Vec<&'a Judged>,
    /// The session records, in the order of their systems and context IDs.
    pub(crate) sessions: Vec<&'a Judged>,
    pub(crate) of_session: Vec<&'a Judged>,
    pub(crate) windows: HashMap<u32, &'a WindowView>,
    /// The PIDs that the entries of Claude Code's registry name.
    pub(crate) registered: HashSet<u32>,
    /// What the entire CLI runs in each folder, dead or not.
    entire: HashMap<&'a Path, Vec<&'a Judged>>,
}

impl<'a> Index<'a> {
    /// Indexes all judged records and windows.
    pub(crate) fn new(judged: &'a [Judged], windows: &'a [WindowView]) -> Self {
        let is_session = |one: &&Judged| one.record.kind == RecordKind::Session;
        let mut by_key: Vec<_> = judged.iter().collect();
        let mut sessions: Vec<_> = judged.iter().filter(is_session).collect();
        let mut of_session: Vec<_> = judged.iter().filter(|one| one.record.session_id.is_some()).collect();
        by_key.sort_by_key(|one| &one.key);
        sessions.sort_by_key(|one| context(one));
        of_session.sort_by_key(|one| one.record.session_id.as_ref());
        let windows = windows.iter().map(|window| (window.pid, window)).collect();
        let registered = judged.iter().filter(|one| is_entry(one)).filter_map(|one| one.pid()).collect();
        let mut entire: HashMap<&Path, Vec<&Judged>> = HashMap::new();
        for one in judged.iter().filter(|one| one.record.format == Format::Entire && !one.record.has_ended) {
            if let Some(folder) = one.record.cwd.as_deref() {
                entire.entry(folder).or_default().push(one);
            }
        }
        Self { by_key, sessions, of_session, windows, registered, entire }
    }

    /// Returns what the entire CLI runs in a folder, dead or not.
    pub(crate) fn entire_in(&self, folder: &Path) -> &[&'a Judged] {
        self.entire.get(folder).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn of_key(&self, key: &Key) -> Option<&'a Judged> {
        equal(&self.by_key, |one| one.key.cmp(key)).last().copied()
    }

    pub(crate) fn of_session(&self, session: &Untrusted) -> &[&'a Judged] {
        equal(&self.of_session, |one| one.record.session_id.as_ref().cmp(&Some(session)))
    }

    /// Returns the session records of one system with one context ID.
    pub(crate) fn sessions(&self, format: Format, context: &Untrusted) -> &[&'a Judged] {
        equal(&self.sessions, |one| {
            crate::core::judge::rules::facts::context(one).cmp(&(format, Some(context)))
        })
    }
}

/// Returns whether a record is an entry of Claude Code's registry.
pub(crate) fn is_entry(record: &Record) -> bool {
    let binding = record.holder.as_ref().map(|holder| holder.binding);
    record.format == Format::ClaudeCode && binding == Some(Binding::Registry)
}

/// Returns what ties a session record to a window.
pub(crate) fn context(judged: &Judged) -> (Format, Option<&Untrusted>) {
    (judged.record.format, judged.record.context_id.as_ref())
}

/// Returns the run of those in a sorted list that compare equal.
pub(crate) fn equal<T>(sorted: &[T], order: impl Fn(&T) -> Ordering) -> &[T] {
    let from = sorted.partition_point(|one| order(one).is_lt());
    let rest = sorted.get(from..).unwrap_or_default();
    rest.get(..rest.partition_point(|one| order(one).is_eq())).unwrap_or_default()
}

/// States what a window is, as evidence.
pub(crate) fn window_evidence(window: &WindowView) -> Evidence {
    Evidence::new("window", window_name(window), format!("/proc/{}/stat", window.pid)).at(window.started_at)
}

/// Names a window for a sentence: its own name, or its agent, with the PID.
pub(crate) fn window_name(window: &WindowView) -> String {
    match window.name.as_ref() {
        Some(name) => format!("{name} (PID {})", window.pid),
        None => format!("{} (PID {})", window.agent, window.pid),
    }
}

/// The most names that a sentence lists.
const MOST_LISTED: usize = 6;

/// Joins names for a sentence: `a`, `a and b`, `a, b and c`; the rest of very many is counted.
pub(crate) fn listed(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) if rest.len() < MOST_LISTED => format!("{} and {last}", rest.join(", ")),
        Some(_) => {
            let (told, more) = names.split_at(MOST_LISTED);
            format!("{} and {} more", told.join(", "), more.len())
        }
    }
}

impl<'a> Facts<'a> {
    pub(crate) fn window(&self, pid: u32) -> Option<&'a WindowView> {
        self.index.windows.get(&pid).copied()
    }
}

/// Returns a file's name, or a whole row's, for a sentence.
pub(crate) fn file_name(judged: &Judged) -> String {
    match &judged.record.location {
        Location::File(path) => path
            .file_name()
            .map_or_else(String::new, |name| Untrusted::from_path(std::path::Path::new(name)).shown()),
        Location::Row(_) => judged.record.location.text().shown(),
    }
}

/// States a number with its noun: `1 window`, `3 windows`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
