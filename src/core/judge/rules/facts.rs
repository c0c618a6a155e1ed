//! The input of the rules, and how they name things.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::Path;

use crate::core::judge::successors::Successors;
use crate::core::judge::world::World;
use crate::core::model::{
    Binding, ClaimView, Evidence, Format, Generation, JudgedRecord, Key, LeftOver, LeftStash, LeftTree,
    Location, LostWork, Record, RecordKind, Untrusted, WindowView,
};

/// The input of the rules.
pub(crate) struct Facts<'a> {
    /// The snapshot with its windows and certain sessions.
    pub(crate) world: &'a World<'a>,
    /// The windows as shown.
    pub(crate) windows: &'a [WindowView],
    pub(crate) records: &'a [JudgedRecord],
    /// The claims as shown.
    pub(crate) claims: &'a [ClaimView],
    pub(crate) left_overs: &'a [LeftOver],
    pub(crate) left_trees: &'a [LeftTree],
    pub(crate) left_stashes: &'a [LeftStash],
    /// What the dead have lost.
    pub(crate) lost: &'a [LostWork],
    /// Who may use what the dead have left.
    pub(crate) successors: Successors<'a>,
    /// Where to find records fast.
    pub(crate) index: Index<'a>,
}

/// Finds windows, records and claims by key, and records by what they tie to a window.
pub(crate) struct Index<'a> {
    records: HashMap<&'a Key, &'a JudgedRecord>,
    /// The claims that a dead holder alone does not keep: only those are between windows.
    claims: HashMap<&'a Key, &'a ClaimView>,
    windows: HashMap<&'a Key, &'a WindowView>,
    windows_by_pid: HashMap<u32, &'a WindowView>,
    /// The session records by their systems and those context IDs that some record asks for.
    by_context: HashMap<(Format, &'a Untrusted), Vec<&'a JudgedRecord>>,
    /// The PIDs that the entries of Claude Code's registry name.
    pub(crate) registered: HashSet<u32>,
    /// What the entire CLI runs in each folder, dead or not.
    entire: HashMap<&'a Path, Vec<&'a JudgedRecord>>,
}

impl<'a> Index<'a> {
    /// Indexes all that was judged.
    pub(crate) fn new(
        windows: &'a [WindowView],
        judged: &'a [JudgedRecord],
        claims: &'a [ClaimView],
    ) -> Self {
        let context = |one: &'a JudgedRecord| Some((one.format, one.context_id.as_ref()?));
        let asks =
            |one: &&JudgedRecord| one.kind == RecordKind::Companion || one.generation == Generation::Legacy;
        let asked: HashSet<_> = judged.iter().filter(asks).filter_map(context).collect();
        let sessions = judged.iter().filter(|one| one.kind == RecordKind::Session);
        let contexts = sessions.filter_map(|one| Some((context(one)?, one)));
        let held = claims.iter().filter(|claim| !claim.is_dead());
        let of_entire = judged.iter().filter(|one| one.format == Format::Entire && !one.has_ended);
        Self {
            records: judged.iter().map(|one| (&one.key, one)).collect(),
            claims: held.map(|claim| (&claim.key, claim)).collect(),
            windows: windows.iter().map(|window| (&window.key, window)).collect(),
            windows_by_pid: windows.iter().map(|window| (window.pid, window)).collect(),
            by_context: grouped(contexts.filter(|(context, _)| asked.contains(context))),
            registered: judged.iter().filter(|one| is_entry(one)).filter_map(|one| one.pid()).collect(),
            entire: grouped(of_entire.filter_map(|one| Some((one.cwd.as_deref()?, one)))),
        }
    }

    /// Returns what the entire CLI runs in a folder, dead or not.
    pub(crate) fn entire_in(&self, folder: &Path) -> &[&'a JudgedRecord] {
        self.entire.get(folder).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn record(&self, key: &Key) -> Option<&'a JudgedRecord> {
        self.records.get(key).copied()
    }

    /// Returns a claim whose holder may live.
    pub(crate) fn claim(&self, key: &Key) -> Option<&'a ClaimView> {
        self.claims.get(key).copied()
    }

    pub(crate) fn window(&self, key: &Key) -> Option<&'a WindowView> {
        self.windows.get(key).copied()
    }

    /// Returns the session records of one system with the context ID of a companion, or of a record in
    /// an old form.
    pub(crate) fn sessions(&self, format: Format, context: &'a Untrusted) -> &[&'a JudgedRecord] {
        self.by_context.get(&(format, context)).map_or(&[], Vec::as_slice)
    }
}

/// Puts together what has the same key, in its order.
pub(crate) fn grouped<K: Eq + Hash, T>(all: impl Iterator<Item = (K, T)>) -> HashMap<K, Vec<T>> {
    all.fold(HashMap::new(), |mut groups, (key, one)| {
        groups.entry(key).or_default().push(one);
        groups
    })
}

/// Returns whether a record is an entry of Claude Code's registry.
pub(crate) fn is_entry(record: &Record) -> bool {
    let binding = record.holder.as_ref().map(|holder| holder.binding);
    record.format == Format::ClaudeCode && binding == Some(Binding::Registry)
}

/// Returns the run of those in a sorted list that compare equal.
pub(crate) fn equal<T>(sorted: &[T], order: impl Fn(&T) -> Ordering) -> &[T] {
    let from = sorted.partition_point(|one| order(one).is_lt());
    let rest = sorted.get(from..).unwrap_or_default();
    rest.get(..rest.partition_point(|one| order(one).is_eq())).unwrap_or_default()
}

/// States what a window is, as evidence.
pub(crate) fn window_evidence(window: &WindowView) -> Evidence {
    Evidence::new("window", window_name(window), format!("/proc/{}/stat", window.pid))
        .dated(window.started_at)
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
            let (shown, more) = names.split_at(MOST_LISTED);
            format!("{} and {} more", shown.join(", "), more.len())
        }
    }
}

impl<'a> Facts<'a> {
    /// Returns every record of a session.
    pub(crate) fn of_session(&self, session: &Untrusted) -> impl Iterator<Item = &'a JudgedRecord> {
        let records = self.world.records_of(session).iter();
        records.filter_map(|record| self.index.record(&record.key()))
    }

    pub(crate) fn window(&self, pid: u32) -> Option<&'a WindowView> {
        self.index.windows_by_pid.get(&pid).copied()
    }
}

/// Returns a file's name, or a whole row's, for a sentence.
pub(crate) fn file_name(judged: &JudgedRecord) -> String {
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
