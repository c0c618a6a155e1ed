//! Pointers: files that name a session and no process.

use super::{facts, id, moment};
use crate::core::model::{BrokenFile, Code, FileImage, Format, Problem, Record, RecordKind, Untrusted};
use crate::format::reading::Reading;
use crate::format::reading::{draft, json};

/// Reads `current`: a bare session ID, or an object that has one. The last session to start
/// wins, so it may name another window.
///
/// # Errors
/// The broken file: not readable, empty, torn or corrupt.
pub(super) fn current(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let bytes = json::bytes(Format::Leo, file, reading)?;
    let bare = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii();
    if bare.is_empty() {
        return Err(draft::unusable(Format::Leo, file, reading, "the file is empty"));
    }
    let mut record = draft::record(Format::Leo, RecordKind::Pointer, file, reading);
    record.variant = "current session";
    record.session_id = if bare.starts_with(b"{") {
        let object = json::object(Format::Leo, file, reading)?;
        id::required(&object, "session_id", &mut record.problems)
    } else {
        id::judged(Untrusted::from_bytes(bare).raw()).map_err(|problem| record.problems.push(problem)).ok()
    };
    record.title = "current session".into();
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

/// Reads `active-coordinator.json`.
///
/// # Errors
/// The broken file: not readable, torn, or not an object, which LEO treats as no coordinator.
pub(super) fn coordinator(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading).map_err(explain)?;
    let mut record = draft::record(Format::Leo, RecordKind::Pointer, file, reading);
    record.variant = "active coordinator";
    record.title = "coordinator".into();
    record.session_id = id::required(&object, "session_id", &mut record.problems);
    record.started_at = moment::past(&object, "started_at", reading.now, &mut record.problems);
    record.facts = facts::from_fields(&object, &[("host", "host")]);
    record.add_fact("stale when", "the session's row has had no heartbeat for 10 min");
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

fn explain(broken: BrokenFile) -> BrokenFile {
    if broken.problem.code != Code::CorruptRecord {
        return broken;
    }
    let message = format!(
        "{}; LEO takes that to mean no coordinator, and its sessions work without one",
        broken.problem.message
    );
    BrokenFile { problem: Problem::new(Code::CorruptRecord, message), ..broken }
}
