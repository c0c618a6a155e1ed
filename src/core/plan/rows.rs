//! Plans on rows of Obra's database: the pair of a run, and the task that it leaves behind.

use crate::core::model::{
    Format, Location, Reason, RecordKind, RecordView, Report, Step, Untrusted, VerdictState,
};

/// The conditions under which every plan on rows is refused.
pub(crate) const REFUSES: [&str; 4] = [
    "a row has changed since it was seen, or a live holder is found",
    "a process of Obra is running, or any process has the database open",
    "a writer holds its lock for 2 s",
    "the whole database cannot be copied into the parked folder first",
];

pub(crate) const INVERSE: &str = "undo restores the exact values if the rows have not changed since; a copy of the database is also parked";

/// Returns why a row is never touched, and what to do instead.
pub(crate) fn never(report: &Report, record: &RecordView) -> Option<(&'static str, &'static str)> {
    match (record.verdict.state, record.verdict.reason) {
        (VerdictState::Alive, _) => {
            Some(("its holder is running and would overwrite it", "end its orchestrator and its agent first"))
        }
        (VerdictState::Unknown, Reason::ProcessPresent) => Some((
            "a process of Obra, or one with the database open, keeps rows in memory and would overwrite it",
            "end that process first",
        )),
        _ if record.has_ended || release_of(record).is_none() => {
            Some(("the row holds nothing", "select a session that is active, or a task that was started"))
        }
        _ if is_begun_task(record) && report.records().any(|row| holds(row, record)) => {
            Some(("a session of this task is still open", "release that session; the task goes with it"))
        }
        (VerdictState::Dead | VerdictState::Unknown, _) => None,
    }
}

/// Returns whether a row is an open session of a task.
fn holds(row: &RecordView, task: &RecordView) -> bool {
    row.kind != RecordKind::Metadata
        && !row.has_ended
        && database(row) == database(task)
        && task_of(row) == task_of(task)
}

/// Returns the steps to release a row: the pair of a run together, and the task that no other session holds.
pub(crate) fn steps(report: &Report, record: &RecordView) -> Vec<Step> {
    let mut rows = vec![record];
    rows.extend(report.records().filter(|other| is_pair(record, other)));
    let task = report.records().find(|task| is_left_task(report, &rows, task));
    rows.extend(task);
    rows.into_iter().filter_map(step).collect()
}

fn is_pair(record: &RecordView, other: &RecordView) -> bool {
    other.key != record.key
        && record.context_id.is_some()
        && other.context_id == record.context_id
        && database(other) == database(record)
        && !other.has_ended
}

/// Returns whether a record is the begun task of some rows, and of no other open session.
fn is_left_task(report: &Report, rows: &[&RecordView], task: &RecordView) -> bool {
    let is_one_of = |row: &RecordView| rows.iter().any(|own| own.key == row.key);
    is_begun_task(task)
        && !is_one_of(task)
        && rows.iter().any(|row| holds(row, task))
        && !report.records().any(|row| holds(row, task) && !is_one_of(row))
}

fn is_begun_task(record: &RecordView) -> bool {
    record.format == Format::Obra && table(record) == Some("task")
}

fn step(record: &RecordView) -> Option<Step> {
    let Location::Row(row) = &record.location else { return None };
    let change = release_of(record)?;
    Some(Step::Row {
        format: record.format,
        database: row.database.clone(),
        table: row.table.to_owned(),
        id: row.id.clone(),
        change,
    })
}

/// Describes what a release changes; `None` for a row that is never changed.
fn release_of(record: &RecordView) -> Option<String> {
    let status = record.detail.obra()?.status.as_ref()?;
    match table(record)? {
        "session_record" => Some(format!(
            "status {status} -> abandoned, ended_at and updated_at -> now, summary if there is none"
        )),
        "task" => Some(format!("status {status} -> PENDING, updated_at -> now")),
        _ => None,
    }
}

fn table(record: &RecordView) -> Option<&str> {
    match &record.location {
        Location::Row(row) => Some(row.table),
        Location::File(_) => None,
    }
}

fn database(record: &RecordView) -> Option<&Untrusted> {
    match &record.location {
        Location::Row(row) => Some(&row.database),
        Location::File(_) => None,
    }
}

fn task_of(record: &RecordView) -> Option<&Untrusted> {
    record.detail.obra()?.task.as_ref()
}
