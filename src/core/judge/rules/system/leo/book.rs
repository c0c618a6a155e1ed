//! One database's sessions and items of work, as its rules look at them.

use std::collections::{BTreeMap, HashMap};

use crate::core::judge::rules::facts::Facts;
use crate::core::model::{
    ClaimView, Database, Evidence, JudgedRecord, Key, Location, RecordKind, Untrusted, WorkItem,
};

/// States the content of an item, as evidence.
pub(crate) fn of_item(item: &WorkItem) -> Evidence {
    let owner = item.owner.as_ref().map_or_else(|| "nobody".to_owned(), Untrusted::shown);
    let value = format!("{}, {}, owned by {owner}", item.key, item.status);
    Evidence::new("item of work", value, item.table).dated(item.changed_at)
}

/// The rows of one database, indexed for the rules.
pub(crate) struct Book<'a> {
    pub(crate) facts: &'a Facts<'a>,
    pub(crate) work: &'a [WorkItem],
    /// The sessions' own rows, in a stable order.
    pub(crate) rows: Vec<(&'a Untrusted, &'a JudgedRecord)>,
    pub(crate) sessions: HashMap<&'a Untrusted, &'a JudgedRecord>,
    pub(crate) claims: HashMap<(&'a Key, &'a Untrusted), &'a ClaimView>,
    /// The items that name each session, or that its row names.
    pub(crate) held: BTreeMap<&'a Untrusted, Vec<&'a WorkItem>>,
    /// A part that is held, of each item that has some.
    pub(crate) parts: HashMap<&'a Untrusted, &'a WorkItem>,
}

impl<'a> Book<'a> {
    pub(crate) fn from_database(database: &'a Database, facts: &'a Facts<'a>) -> Self {
        let row = |judged: &'a JudgedRecord| match &judged.record.location {
            Location::Row(row)
                if row.database == database.name && judged.record.kind == RecordKind::Session =>
            {
                Some((judged.record.session_id.as_ref().unwrap_or(&row.id), judged))
            }
            Location::Row(_) | Location::File(_) => None,
        };
        let rows: Vec<_> = facts.records.iter().filter_map(row).collect();
        let claims = facts.claims.iter().map(|claim| ((&claim.record.key, &claim.resource.id), claim));
        let sessions = rows.iter().copied().collect();
        let work: &'a [WorkItem] = &database.work;
        let held_parts = work.iter().filter(|part| part.owner.is_some());
        let parts = held_parts.filter_map(|part| Some((part.parent.as_ref()?, part))).collect();
        Self { facts, work, rows, sessions, claims: claims.collect(), held: held(work), parts }
    }

    pub(crate) fn held(&self, session: &Untrusted) -> &[&'a WorkItem] {
        self.held.get(session).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn session(&self, id: &Untrusted) -> Option<&'a JudgedRecord> {
        self.sessions.get(id).copied()
    }

    pub(crate) fn claim(&self, record: &Key, item: &WorkItem) -> Option<&'a ClaimView> {
        self.claims.get(&(record, &item.key)).copied()
    }

    /// Returns what a finding about a session and an item is about: the claim, if there is one.
    pub(crate) fn subject(&self, judged: &JudgedRecord, item: &WorkItem) -> Key {
        self.claim(&judged.key, item).map_or_else(|| judged.key.clone(), |claim| claim.key.clone())
    }
}

pub(crate) fn held(work: &[WorkItem]) -> BTreeMap<&Untrusted, Vec<&WorkItem>> {
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
pub(crate) fn named(judged: &JudgedRecord, claim: Option<&ClaimView>) -> String {
    let session = judged.record.session_id.as_ref().map_or_else(|| judged.path().shown(), Untrusted::shown);
    let callsign = judged.record.detail.leo_row().and_then(|row| row.callsign.as_ref());
    let callsign = callsign.map_or_else(String::new, |name| format!("{name}, "));
    let since = claim.and_then(|claim| claim.since);
    let since =
        since.map_or_else(String::new, |at| format!(" (since {})", at.strftime("%Y-%m-%d %H:%M:%SZ")));
    let window = judged.window_pid.map_or_else(String::new, |pid| format!(" in PID {pid}"));
    format!("{callsign}session {session}{window}{since}")
}
