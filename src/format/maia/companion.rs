//! Records that belong to a session and have no life of their own: learning sessions and checkpoints.

use super::{moment, names};
use crate::core::model::{BrokenFile, Code, FileImage, Format, Problem, Record, RecordKind, Untrusted};
use crate::format::reading::Reading;
use crate::format::reading::draft;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::value::Value;

/// How many characters of free text are taken over.
const EXCERPT: usize = 80;

/// Reads a learning session. Maia's clean-up never matches one, so it can outlive its session.
/// Its time is local, unlike the session's.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn learning(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Maia, file, reading)?;
    let started = moment::read(&object, "started_at", &reading.host.zone, reading.now);
    let mut record = draft::record(Format::Maia, RecordKind::Companion, file, reading);
    record.variant = "learning session";
    record.session_id = object.text("session_id");
    record.context_id =
        object.text("context_id").or_else(|| names::learning_context(file.name()).map(Into::into));
    record.title = "learning session".into();
    record.started_at = started.at;
    record.has_ended = object.str("status").is_some_and(|status| status != "active");
    record.facts = draft::known([
        ("query", cut(&object, "initial_query")),
        ("status", cut(&object, "status")),
        (
            "learning enabled",
            object.get("learning_enabled").and_then(Value::as_bool).map(|on| on.to_string().into()),
        ),
    ]);
    record.problems.extend(started.problem);
    if record.session_id.is_none() {
        record.problems.push(Problem::new(Code::UnknownSession, "states no session_id"));
    }
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

/// Reads a checkpoint. Its files are those of that moment, so they are not a present claim.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn checkpoint(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Maia, file, reading)?;
    let created = moment::read(&object, "created_at", &reading.host.zone, reading.now);
    let mut record = draft::record(Format::Maia, RecordKind::Companion, file, reading);
    record.variant = "checkpoint";
    record.context_id = object.text("context_id").or_else(|| folder(file));
    record.title = object.text("phase_name").unwrap_or_else(|| "checkpoint".into());
    record.started_at = created.at;
    record.facts = draft::known([
        ("agent", object.text("current_agent")),
        ("domain", object.text("domain")),
        ("branch", object.text("current_branch")),
        ("last commit", cut(&object, "last_commit")),
        ("next action", cut(&object, "next_action")),
    ]);
    record.problems.extend(created.problem);
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

fn folder(file: &FileImage) -> Option<Untrusted> {
    file.path.parent()?.file_name().map(|name| Untrusted::from_path(name.as_ref()))
}

fn cut(object: &Object<'_>, name: &str) -> Option<Untrusted> {
    object.text(name).map(|text| crate::format::reading::excerpt::excerpt(text.raw(), EXCERPT))
}
