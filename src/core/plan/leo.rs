//! Plans on rows of LEO's database: the session's mirror and the items that name it.

use crate::core::model::{
    ClaimView, Format, Key, Location, Reason, RecordKind, RecordView, Report, ResourceKind, Step,
    SurfaceState, Untrusted, VerdictState,
};

/// The conditions under which every plan on LEO's rows is refused.
const REFUSES: [&str; 4] = [
    "a row has changed since it was seen, or another client holds or is changing it",
    "the database cannot be read completely, or the connection is lost before the commit",
    "there is a sign of life once the rows are locked",
    "LEO's own function releases nothing, or one surface still names the holder",
];

/// The conditions under which every plan on a file's lock is refused.
const REFUSES_LOCK: [&str; 4] = [
    "any column of the row has changed since it was seen, or another client is changing it",
    REFUSES[1],
    "there is a sign of life once the row is locked, or its heartbeat is younger than 10 min",
    "the database would not accept the same row again",
];

/// How such a change is undone.
const INVERSE: &str = "undo restores the exact former values, unless the work has a new holder by then; no heartbeat is written";

/// How the deletion of a file's lock is undone.
const INVERSE_LOCK: &str = "undo restores the row with every former value, even its old heartbeat, unless the file is locked again by then";

/// The mirror in a session's row.
const MIRROR: &str = "claude_sessions.sd_key";

/// Returns the conditions under which a plan on a row is refused.
pub(crate) fn refuses_when(record: &RecordView) -> Vec<&'static str> {
    if is_file_lock(record) { REFUSES_LOCK.to_vec() } else { REFUSES.to_vec() }
}

/// Describes how a plan on a row is undone.
pub(crate) fn inverse(record: &RecordView) -> &'static str {
    if is_file_lock(record) { INVERSE_LOCK } else { INVERSE }
}

/// Returns whether a row is a file's lock, which is deleted as a whole.
fn is_file_lock(record: &RecordView) -> bool {
    record.kind == RecordKind::Lock && matches!(record.location, Location::Row(_))
}

/// Returns why a row is never touched, and what to do instead.
pub(crate) fn never(report: &Report, record: &RecordView) -> Option<(&'static str, &'static str)> {
    if is_file_lock(record) {
        // LEO's sweep asks for the age alone, and claimtop for a proof as well.
        return (record.verdict.state != VerdictState::Dead).then_some((
            "a file's lock expires on its own",
            "LEO's sweep removes it 10 min after its last heartbeat",
        ));
    }
    // A row has such a title only if its database could not be read completely.
    if record.verdict.reason == Reason::Unreadable {
        return Some((
            "the database could not be read completely",
            "look again when the database is connected",
        ));
    }
    let holds_any = claims(report, record, &record.key).next().is_some();
    (!holds_any)
        .then_some(("the row holds nothing", "select a session that holds work, or an item that names one"))
}

/// Returns the claims on work that a plan about a record, or about one claim of it, releases.
fn claims<'a>(
    report: &'a Report,
    record: &'a RecordView,
    key: &'a Key,
) -> impl Iterator<Item = &'a ClaimView> {
    report.claims.iter().filter(move |claim| {
        claim.record.key == record.key
            && claim.resource.kind == ResourceKind::WorkItem
            && (*key == record.key || *key == claim.key)
    })
}

/// Returns the steps to release what a record holds: its own row if it mirrors the item, and the item if that names
/// the session.
pub(crate) fn steps(report: &Report, record: &RecordView, key: &Key) -> Vec<Step> {
    let Location::Row(row) = &record.location else { return Vec::new() };
    let database = &row.database;
    if is_file_lock(record) {
        return vec![file_lock(record, database, row.table, &row.id)];
    }
    let mut steps = Vec::new();
    for claim in claims(report, record, key) {
        for surface in claim.surfaces.iter().filter(|surface| surface.state == SurfaceState::Agrees) {
            let item = &claim.resource.id;
            steps.extend(match surface.name.split_once('.') {
                Some((table, _)) if surface.name == MIRROR => mirror(record, database, table, item),
                Some((table, column)) => Some(owner(record, database, table, column, item)),
                None => None,
            });
        }
    }
    steps
}

fn file_lock(record: &RecordView, database: &Untrusted, table: &str, path: &Untrusted) -> Step {
    let holder = record.session_id.clone().unwrap_or_default();
    Step::Row {
        format: record.format,
        database: database.clone(),
        table: table.to_owned(),
        id: path.clone(),
        change: format!(
            "the row of {holder} is deleted, as LEO's own sweep does; the journal keeps all of it"
        ),
    }
}

fn mirror(record: &RecordView, database: &Untrusted, table: &str, item: &Untrusted) -> Option<Step> {
    let id = record.session_id.clone()?;
    let status = record.detail.leo_row().and_then(|row| row.status.as_ref());
    let how = match status.map(Untrusted::raw) {
        Some("released") => "the row stays released",
        Some("stale") => "the row stays stale",
        _ => "by LEO's release_sd, which writes to the row; its heartbeat is put back",
    };
    let change = format!("sd_key {item} -> nothing, its worktree with it; {how}");
    Some(Step::Row { format: record.format, database: database.clone(), table: table.to_owned(), id, change })
}

fn owner(record: &RecordView, database: &Untrusted, table: &str, column: &str, item: &Untrusted) -> Step {
    let holder = record.session_id.clone().unwrap_or_default();
    let also =
        if table == "quick_fixes" { "; in_progress -> open without pull request and commit" } else { "" };
    Step::Row {
        format: record.format,
        database: database.clone(),
        table: table.to_owned(),
        id: item.clone(),
        change: format!("{column} {holder} -> nothing{also}"),
    }
}

/// Returns what is removed once a dead session's holds are all released, in order: its locks of files, and its files
/// on this machine.
pub(crate) fn left<'a>(report: &'a Report, record: &RecordView, key: &Key) -> Vec<&'a Key> {
    if is_file_lock(record) {
        return Vec::new();
    }
    let is_whole = claims(report, record, &record.key).count() == claims(report, record, key).count();
    let is_dead = record.verdict.state == VerdictState::Dead;
    let Some(session) = record.session_id.as_ref().filter(|_| is_whole && is_dead) else { return Vec::new() };
    let is_its_own = |other: &&RecordView| {
        let is_left = matches!(other.location, Location::File(_)) || is_file_lock(other);
        is_left && other.format == Format::Leo && other.session_id.as_ref() == Some(session)
    };
    let left = report.records().filter(is_its_own);
    let mut left: Vec<_> = left.filter_map(|one| Some((turn(one.kind)?, &one.key))).collect();
    left.sort();
    left.into_iter().map(|(_, key)| key).collect()
}

/// Returns the turn of a kind: proof that others are dead goes after them.
fn turn(kind: RecordKind) -> Option<u8> {
    match kind {
        RecordKind::Lock => Some(0),
        RecordKind::Session => Some(1),
        RecordKind::Marker => Some(2),
        RecordKind::Tick => Some(3),
        RecordKind::Pointer | RecordKind::Companion | RecordKind::Metadata | RecordKind::Temporary => None,
    }
}

/// Describes what would be done.
pub(crate) fn what(report: &Report, record: &RecordView, key: &Key) -> String {
    let holder = record.session_id.as_ref().map_or_else(|| "nobody".to_owned(), Untrusted::shown);
    if is_file_lock(record) {
        return format!("release the file {} that session {holder} holds in LEO's database", record.title);
    }
    let items: Vec<String> = claims(report, record, key).map(|claim| claim.resource.id.shown()).collect();
    format!("release {} from session {holder} in LEO's database", items.join(" and "))
}
