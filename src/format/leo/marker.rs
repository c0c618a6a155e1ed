//! Identity markers: which session a Claude Code process of this checkout runs.

use super::{facts, id, moment, names};
use crate::core::model::{
    Binding, BrokenFile, FileImage, Format, Holder, Leo, Record, RecordDetail, RecordKind, Role, StatedPid,
    Untrusted,
};
use crate::format::reading::Reading;
use crate::format::reading::draft;
use crate::format::reading::json;
use crate::format::reading::json::Object;

/// Reads `pid-<PID>.json`.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn by_pid(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading)?;
    let mut record = marker(&object, file, reading);
    record.variant = "marker of a PID";
    let named = names::marked_pid(file.name());
    record.problems.extend(id::split(named.clone(), object.pid("cc_pid", true), pid_words));
    record.holder = holder(&object, named);
    record.add_fact("clean-up", "the next start of a session here removes it once its PID is dead");
    Ok(record)
}

/// Reads `<session>.json`.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn by_session(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading)?;
    let mut record = marker(&object, file, reading);
    record.variant = "marker of a session";
    let named = names::stem(file.name()).filter(|stem| id::is_uuid(stem)).map(Untrusted::from);
    record.problems.extend(id::split(named, record.session_id.clone(), Untrusted::shown));
    record.holder = holder(&object, None);
    record.add_fact("clean-up", "LEO keeps the 5 newest, so a live session can lose its own");
    Ok(record)
}

/// Reads `fallback-<port>-<PID>.json`, whose session ID is the terminal ID of a session file.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn fallback(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading)?;
    let mut record = marker(&object, file, reading);
    record.variant = "fallback marker";
    record.context_id = record.session_id.clone();
    record.started_at = moment::past(&object, "created_at", reading.now, &mut record.problems);
    let named = names::fallback_pid(file.name());
    let stated = object.pid("pid", true);
    record.problems.extend(id::split(named.clone(), stated.clone(), pid_words));
    record.holder = stated.or(named).map(|pid| Holder::new(pid, Role::Hook, Binding::File));
    record.add_fact("clean-up", "swept only by the rule that keeps the 5 newest");
    Ok(record)
}

/// Reads the file that an interrupted atomic write left.
///
/// # Errors
/// The broken file if it is not a plain, readable one.
pub(super) fn temporary(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let mut record = draft::temporary(Format::Leo, file, reading)?;
    record.variant = "identity being written";
    record.title = file.name().into();
    Ok(record)
}

/// Drafts the common part of all markers.
fn marker(object: &Object<'_>, file: &FileImage, reading: &Reading<'_>) -> Record {
    let mut record = draft::record(Format::Leo, RecordKind::Marker, file, reading);
    record.session_id = id::required(object, "session_id", &mut record.problems);
    record.title =
        record.session_id.clone().unwrap_or_else(|| names::stem(file.name()).unwrap_or_default().into());
    record.started_at = moment::past(object, "captured_at", reading.now, &mut record.problems);
    record.facts =
        facts::from_fields(object, &[("source", "source"), ("model", "model"), ("sse port", "sse_port")]);
    let is_new_session = object.str("source") == Some("startup");
    record.detail = RecordDetail::Leo(Leo::Marker { is_new_session });
    record.problems.extend(json::ownership_problems(file, reading, None));
    record
}

/// Returns Claude Code's process. On Windows it is found by a walk that gives text; elsewhere it is the hook's parent
/// as a number, which may be a `/bin/sh -c` that exits at once.
fn holder(object: &Object<'_>, named: Option<StatedPid>) -> Option<Holder> {
    let role = if object.str("cc_pid").is_some() { Role::Agent } else { Role::Unknown };
    let pid = object.pid("cc_pid", true).or(named)?;
    Some(Holder::new(pid, role, Binding::Marker))
}

fn pid_words(pid: &StatedPid) -> String {
    match pid {
        StatedPid::Valid(pid) => format!("PID {pid}"),
        StatedPid::Bad(text) => format!("PID {}", crate::format::reading::excerpt::excerpt(text.raw(), 40)),
    }
}
