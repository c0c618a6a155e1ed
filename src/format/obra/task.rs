//! Rows of `task` that were begun and not finished, and interactions of sessions without a row.

use super::tables::{TASK, Tables};
use crate::core::model::{Code, ObraRow, Problem, Record, RecordDetail, RecordKind, Untrusted};
use crate::format::Source;
use crate::format::obra::row::draft;
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;
use crate::format::reading::draft::known;

/// Reads a task that is RUNNING, READY or RETRYING: their queue is only in the memory of the process that began them.
pub(super) fn record(row: &Cells, tables: &Tables, source: &Source, reading: &Reading<'_>) -> Option<Record> {
    let status = row.text("status").filter(|status| matches!(*status, "RUNNING" | "READY" | "RETRYING"))?;
    if row.number("is_deleted") == Some(1) {
        return None;
    }
    let mut record = draft(RecordKind::Metadata, TASK, row, source, reading);
    let id = row.text("id").unwrap_or_default();
    record.variant = "task";
    record.detail = RecordDetail::Obra(ObraRow { status: Some(status.into()), task: Some(id.into()) });
    record.title = format!("task {id}: {}", row.text("title").unwrap_or_default()).into();
    record.started_at = row.time("started_at");
    record.written_at = row.newest(&["updated_at", "started_at", "created_at"]).unwrap_or(reading.now);
    let project = tables.project(row.number("project_id"));
    let folder = project.and_then(|project| project.text("working_directory"));
    record.cwd = folder.map(Into::into);
    record.facts = known([
        ("status", Some(status.into())),
        ("task", Some(id.into())),
        ("type", row.text("task_type").map(Untrusted::from)),
        ("retries", row.text("retry_count").map(Untrusted::from)),
        ("project", project.and_then(|project| project.text("project_name")).map(Untrusted::from)),
    ]);
    Some(record)
}

/// Reads an interaction that names a session which has no row.
pub(super) fn lost(row: &Cells, source: &Source, reading: &Reading<'_>) -> Record {
    let mut record = draft(RecordKind::Metadata, "interaction", row, source, reading);
    let session = row.text("agent_session_id").unwrap_or_default();
    record.variant = "interaction";
    record.title = format!("interaction {}", row.text("id").unwrap_or_default()).into();
    record.written_at = row.time("timestamp").unwrap_or(reading.now);
    record.has_ended = true;
    let message = format!("it names the session {session}, which has no row: Obra will not find it");
    record.problems.push(Problem::new(Code::UnknownSession, message));
    record
}
