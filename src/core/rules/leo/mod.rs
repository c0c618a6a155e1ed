//! Findings about LEO's database, where a claim is written on two surfaces: the item of work names
//! its owner, and the session's own row mirrors what it works on.

mod items;
mod sessions;
mod trees;

use std::collections::{BTreeMap, HashMap};

use super::Facts;
use crate::core::assess::{Judged, fact};
use crate::core::finding::Finding;
use crate::core::key::Key;
use crate::core::record::{Format, Location, RecordKind};
use crate::core::report::ClaimView;
use crate::core::snapshot::Database;
use crate::core::text::Untrusted;
use crate::core::work::WorkItem;

/// Finds what is wrong between items of work and sessions. What was read in part tells of nothing.
pub(super) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Vec<Finding>) {
    let databases = facts.world.snapshot.databases.iter();
    let read = databases.filter(|database| database.format == Format::Leo && database.is_complete);
    let books: Vec<Book<'_>> = read.map(|database| Book::of(database, facts)).collect();
    found.extend(trees::findings(&books, facts));
    for book in &books {
        found.extend(items::findings(book));
        found.extend(sessions::findings(book));
    }
}

/// The rows of one database, each where it is asked for.
struct Book<'a> {
    facts: &'a Facts<'a>,
    work: &'a [WorkItem],
    /// The sessions' own rows, in a stable order.
    rows: Vec<(&'a Untrusted, &'a Judged)>,
    sessions: HashMap<&'a Untrusted, &'a Judged>,
    claims: HashMap<(&'a Key, &'a Untrusted), &'a ClaimView>,
    /// The items that name each session, or that its row names.
    held: BTreeMap<&'a Untrusted, Vec<&'a WorkItem>>,
    /// A part that is held, of each item that has some.
    parts: HashMap<&'a Untrusted, &'a WorkItem>,
}

impl<'a> Book<'a> {
    fn of(database: &'a Database, facts: &'a Facts<'a>) -> Self {
        let row = |judged: &'a Judged| match &judged.record.location {
            Location::Row(row)
                if row.database == database.name && judged.record.kind == RecordKind::Session =>
            {
                Some((judged.record.session_id.as_ref().unwrap_or(&row.id), judged))
            }
            Location::Row(_) | Location::File(_) => None,
        };
        let rows: Vec<_> = facts.records.iter().filter_map(row).collect();
        let claims = facts.claims.iter().map(|claim| ((&claim.record.key, &claim.resource().id), claim));
        let sessions = rows.iter().copied().collect();
        let work: &'a [WorkItem] = &database.work;
        let held_parts = work.iter().filter(|part| part.owner.is_some());
        let parts = held_parts.filter_map(|part| Some((part.parent.as_ref()?, part))).collect();
        Self { facts, work, rows, sessions, claims: claims.collect(), held: held(work), parts }
    }

    fn held(&self, session: &Untrusted) -> &[&'a WorkItem] {
        self.held.get(session).map_or(&[], Vec::as_slice)
    }

    fn session(&self, id: &Untrusted) -> Option<&'a Judged> {
        self.sessions.get(id).copied()
    }

    /// Returns the claim of a record on an item.
    fn claim(&self, record: &Key, item: &WorkItem) -> Option<&'a ClaimView> {
        self.claims.get(&(record, &item.key)).copied()
    }

    /// Returns what a finding about a session and an item is about: the claim, if there is one.
    fn subject(&self, judged: &Judged, item: &WorkItem) -> Key {
        self.claim(&judged.key, item).map_or_else(|| judged.key.clone(), |claim| claim.key.clone())
    }
}

fn held(work: &[WorkItem]) -> BTreeMap<&Untrusted, Vec<&WorkItem>> {
    let mut held: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for item in work {
        let mirrors = item.mirrors.iter().filter(|session| Some(*session) != item.owner.as_ref());
        for session in item.owner.iter().chain(mirrors) {
            held.entry(session).or_default().push(item);
        }
    }
    held
}

/// Names a session for a sentence, with its callsign and since when it holds what it does.
fn named(judged: &Judged, claim: Option<&ClaimView>) -> String {
    let session = judged.record.session_id.as_ref().map_or_else(|| judged.path().shown(), Untrusted::shown);
    let callsign = fact(&judged.record, "callsign").map_or_else(String::new, |name| format!("{name}, "));
    let since = claim.and_then(|claim| claim.since());
    let since = since.map_or_else(String::new, |at| format!(" (since {})", at.strftime("%Y-%m-%d %H:%MZ")));
    let window = judged.window_pid.map_or_else(String::new, |pid| format!(" in PID {pid}"));
    format!("{callsign}session {session}{window}{since}")
}
