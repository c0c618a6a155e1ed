//! Fleet identities: the names and colours that LEO gives to sessions.

use super::{facts, id, moment, names};
use crate::core::model::{BrokenFile, Code, FileImage, Format, Generation, Problem, Record, RecordKind};
use crate::format::reading::Reading;
use crate::format::reading::{draft, json};

/// Reads `fleet-identity-<session>.json`, the best name for a window.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn of_session(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let mut record = identity(file, reading)?;
    record.variant = "fleet identity";
    match id::judged(names::named_in_fleet(file.name()).unwrap_or_default()) {
        Ok(session) => record.session_id = Some(session),
        Err(problem) => record.problems.push(problem),
    }
    if record.title.is_empty() {
        record.title = record.session_id.clone().unwrap_or_else(|| file.name().into());
    }
    Ok(record)
}

/// Reads `fleet-identity.json`, which all sessions without an ID share.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn shared(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let mut record = identity(file, reading)?;
    record.generation = Generation::Legacy;
    record.variant = "shared fleet identity";
    if record.title.is_empty() {
        record.title = "fleet identity".into();
    }
    let message = "one name for every session without an ID; LEO now names each session in its own file";
    record.problems.push(Problem::new(Code::LegacyRecord, message));
    Ok(record)
}

fn identity(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading)?;
    let mut record = draft::record(Format::Leo, RecordKind::Metadata, file, reading);
    record.title = facts::first_text(&object, &["display_name", "callsign"]).unwrap_or_default();
    record.started_at = moment::past(&object, "assigned_at", reading.now, &mut record.problems);
    record.facts =
        facts::from_fields(&object, &[("callsign", "callsign"), ("colour", "color"), ("has a role", "role")]);
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}
