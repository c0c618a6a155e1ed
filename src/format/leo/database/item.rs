//! Items of work: strategic directives and quick fixes, with both surfaces of their claim.

use std::collections::{BTreeMap, BTreeSet};

use super::tables::{DIRECTIVES, QUICK_FIXES, SESSIONS, Tables, is_session, mirrored, owner};
use crate::core::model::{
    Code, Key, KeyKind, Problem, Record, RecordKind, Resource, ResourceKind, Stage, StatedClaim,
    SurfaceState, Untrusted, WorkItem,
};
use crate::format::leo::database::source::Source;
use crate::format::leo::work::{MIRROR, owner_surface, surface};
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;
use crate::format::reading::draft::known;

/// The name of an item's record; rules recognize it by this.
pub(super) const VARIANT: &str = "item of work";

/// Returns every item that was read, and those that are only named by sessions.
pub(super) fn all(source: &Source, tables: &Tables) -> Vec<WorkItem> {
    let mirrors = mirrors(tables);
    let items = tables.directives.iter().map(|row| (DIRECTIVES, "sd_key", row));
    let items = items.chain(tables.quick_fixes.iter().map(|row| (QUICK_FIXES, "id", row)));
    let mut all: Vec<WorkItem> =
        items.filter_map(|(table, key, row)| one(table, row.text(key)?, row, &mirrors, source)).collect();
    let keys = keys_by_id(tables);
    for item in &mut all {
        let key = item.parent.as_ref().and_then(|parent| keys.get(parent.raw()));
        item.parent = key.map(|key| (*key).into()).or(item.parent.take());
    }
    let there: BTreeSet<String> = all.iter().map(|item| item.key.raw().to_owned()).collect();
    let missing = mirrors.into_iter().filter(|(key, _)| !there.contains(*key));
    all.extend(missing.map(|(key, mirrors)| WorkItem {
        key: key.into(),
        table: table_of(key),
        status: Untrusted::default(),
        stage: if tables.unread.contains(&table_of(key)) { Stage::Unread } else { Stage::Absent },
        owner: None,
        mirrors,
        parent: None,
        has_result: false,
        changed_at: None,
        record: None,
    }));
    let sessions: BTreeSet<&str> = tables.sessions.iter().filter_map(|row| row.text("session_id")).collect();
    for item in all.iter_mut().filter(|item| is_lonely(item, &sessions)) {
        item.record = Some(key_of(item, source));
    }
    all
}

/// Returns the keys of directives by their IDs, by which parts name their wholes.
fn keys_by_id(tables: &Tables) -> BTreeMap<&str, &str> {
    tables.directives.iter().filter_map(|row| Some((row.text("id")?, row.text("sd_key")?))).collect()
}

/// Returns the table of a key: quick fixes are known by their prefix.
pub(super) fn table_of(key: &str) -> &'static str {
    if key.starts_with("QF-") { QUICK_FIXES } else { DIRECTIVES }
}

/// Returns the sessions whose rows name each item.
fn mirrors(tables: &Tables) -> BTreeMap<&str, Vec<Untrusted>> {
    let mut mirrors: BTreeMap<&str, Vec<Untrusted>> = BTreeMap::new();
    for row in &tables.sessions {
        if let (Some(key), Some(session)) = (mirrored(row), row.text("session_id")) {
            mirrors.entry(key).or_default().push(session.into());
        }
    }
    mirrors
}

fn one(
    table: &'static str,
    key: &str,
    row: &Cells,
    mirrors: &BTreeMap<&str, Vec<Untrusted>>,
    source: &Source,
) -> Option<WorkItem> {
    let status = row.text("status").unwrap_or_default();
    Some(WorkItem {
        key: key.into(),
        table,
        status: status.into(),
        stage: stage(status),
        owner: owner(row).map(Untrusted::from),
        mirrors: mirrors.get(key).cloned().unwrap_or_default(),
        parent: row.text("parent_sd_id").map(Untrusted::from),
        has_result: ["pr_url", "commit_sha"].iter().any(|name| row.text(name).is_some_and(|t| !t.is_empty())),
        changed_at: source.time(row, "updated_at"),
        record: None,
    })
}

/// Returns the stage of a status: LEO refuses to claim finished items.
fn stage(status: &str) -> Stage {
    match status {
        "completed" | "cancelled" | "deferred" | "archived" | "escalated" => Stage::Finished,
        "in_progress" => Stage::InProgress,
        _ => Stage::Open,
    }
}

/// Returns whether an item needs a record of its own: it names an owner without a row, or it is begun and names no
/// owner.
fn is_lonely(item: &WorkItem, sessions: &BTreeSet<&str>) -> bool {
    match item.owner.as_ref() {
        Some(owner) => !sessions.contains(owner.raw()),
        None => item.mirrors.is_empty() && item.stage == Stage::InProgress,
    }
}

/// Returns the items that need a record of their own.
pub(super) fn lonely(work: &[WorkItem]) -> impl Iterator<Item = &WorkItem> {
    work.iter().filter(|item| item.record.is_some())
}

fn key_of(item: &WorkItem, source: &Source) -> Key {
    let text = format!("{}:{}:{}", source.database.raw(), item.table, item.key.raw());
    Key::derive(KeyKind::Record, &["leo", &text])
}

/// Reads the record of an item that has no session's record.
pub(super) fn record(item: &WorkItem, source: &Source, reading: &Reading<'_>) -> Record {
    let mut record = source.draft(RecordKind::Metadata, item.table, item.key.raw(), reading);
    record.variant = VARIANT;
    record.session_id = item.owner.clone().filter(|owner| is_session(owner.raw()));
    record.written_at = item.changed_at.unwrap_or(reading.now);
    if let Some(owner) = item.owner.as_ref() {
        record.claims = [claim(item, [SurfaceState::Missing, SurfaceState::Agrees])].into();
        if !is_session(owner.raw()) {
            let message = format!("it names {owner} as its owner, which cannot be a session ID");
            record.problems.push(Problem::new(Code::UnknownSession, message));
        }
    }
    record.facts = known([
        ("status", Some(item.status.clone())),
        ("owner", item.owner.clone()),
        ("pull request or commit", item.has_result.then(|| "there is one".into())),
    ]);
    record
}

/// Returns the claim of a session on an item, with its row's surface and the item's.
pub(super) fn claim(item: &WorkItem, [mirror, owner]: [SurfaceState; 2]) -> StatedClaim {
    StatedClaim {
        resource: Resource { kind: ResourceKind::WorkItem, id: item.key.clone() },
        since: None,
        surfaces: [surface(MIRROR, mirror), surface(owner_surface(item.key.raw()), owner)].into(),
    }
}

/// Returns both surfaces of a session and an item.
pub(super) fn surfaces(item: &WorkItem, session: &Cells, tables: &Tables) -> [SurfaceState; 2] {
    let id = session.text("session_id").unwrap_or_default();
    let mirror = match mirrored(session) {
        Some(key) if key == item.key.raw() => SurfaceState::Agrees,
        Some(_) => SurfaceState::Disagrees,
        None => SurfaceState::Missing,
    };
    let owner = match item.owner.as_ref() {
        _ if tables.unread.contains(&item.table) => SurfaceState::Unread,
        Some(owner) if owner.raw() == id => SurfaceState::Agrees,
        Some(_) => SurfaceState::Disagrees,
        None => SurfaceState::Missing,
    };
    let mirror = if tables.unread.contains(&SESSIONS) { SurfaceState::Unread } else { mirror };
    [mirror, owner]
}
