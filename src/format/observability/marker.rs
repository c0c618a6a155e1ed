//! Spawn markers: which session started which, for one hour.

use jiff::{SignedDuration, Timestamp};

use super::stamp;
use crate::core::model::{
    BrokenFile, Code, Deletion, Expiry, FileImage, Format, NamedTexts, Problem, Record, RecordKind, Spares,
};
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::value::Value;
use crate::format::reading::{draft, time};

/// How many characters of free text are taken over.
const EXCERPT: usize = 80;

/// Reads a spawn marker.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn read(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Observability, file, reading)?;
    let mut record = draft::record(Format::Observability, RecordKind::Marker, file, reading);
    record.variant = "spawn marker";
    record.session_id = object.text("child_session_id");
    record.title = object.text("agent_name").unwrap_or_else(|| "(no agent)".into());
    record.facts = facts(&object);
    match created(&object, reading) {
        Ok(at) => record.started_at = at,
        Err(problem) => record.problems.push(problem),
    }
    match ttl(&object) {
        Ok(at) => (record.expiry, record.deletion) = limits(at),
        Err(problem) => record.problems.push(problem),
    }
    if record.session_id.is_none() {
        record
            .problems
            .push(Problem::new(Code::UnknownSession, "names no child: child_session_id is missing"));
    }
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

fn created(object: &Object<'_>, reading: &Reading<'_>) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = object.str("created_at") else { return Ok(None) };
    let problem = match time::any(text, &reading.host.zone) {
        Some(at) if reading.now.duration_since(at) >= -stamp::AHEAD_AT_MOST => return Ok(Some(at)),
        Some(_) => "is in the future",
        None => "is not a time",
    };
    let message = format!("created_at {problem}: {}", crate::format::reading::excerpt::excerpt(text, 40));
    Err(Problem::new(Code::BadTimestamp, message))
}

/// Returns the moment in `ttl`, which is a moment, not a duration. That system treats a marker without it as long
/// expired, and its clean-up stops at one whose `ttl` is not a number.
fn ttl(object: &Object<'_>) -> Result<Timestamp, Problem> {
    let problem = |message: String| Problem::new(Code::BadTimestamp, message);
    let Some(value) = object.get("ttl") else {
        return Err(problem("there is no ttl; the next clean-up of markers removes the file".to_owned()));
    };
    value.as_f64().and_then(epoch_seconds).ok_or_else(|| {
        let shown = crate::format::reading::excerpt::excerpt(&value.to_string(), 40);
        match value {
            Value::Number(_) => problem(format!("ttl is not a time: {shown}")),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                problem(format!("ttl is not a number: {shown}; that system's clean-up stops at this file"))
            }
        }
    })
}

fn limits(at: Timestamp) -> (Option<Expiry>, Option<Deletion>) {
    let rule = "past its ttl; the clean-up after any subagent removes it";
    (Some(Expiry { at, rule: "past its ttl" }), Some(Deletion { at, rule, spares: Spares::Nobody }))
}

fn facts(object: &Object<'_>) -> NamedTexts {
    let cut =
        |name| object.text(name).map(|text| crate::format::reading::excerpt::excerpt(text.raw(), EXCERPT));
    let names: Vec<&str> = object.strings("tools_granted").collect();
    draft::known([
        ("parent session", object.text("parent_session_id")),
        ("spawned by", cut("spawn_method")),
        ("task", cut("task_description")),
        (
            "tools",
            (!names.is_empty()).then(|| crate::format::reading::excerpt::excerpt(&names.join(", "), EXCERPT)),
        ),
    ])
}

/// Reads seconds since 1970 with a fraction.
pub(super) fn epoch_seconds(seconds: f64) -> Option<Timestamp> {
    let since = SignedDuration::try_from_secs_f64(seconds).ok()?;
    Timestamp::UNIX_EPOCH.checked_add(since).ok().filter(|at| at.as_second() > 0)
}
