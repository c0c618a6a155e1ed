//! A project's session slot, and the two files whose names or lines are like it.

use super::stamp::{self, Habits};
use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    BrokenFile, Code, Deletion, FileImage, Format, Problem, Record, RecordDetail, RecordKind, ResourceKind,
    Spares, StatedClaim, Untrusted,
};
use crate::format::observability::marker;
use crate::format::observability::names::{CORRELATION, RATE_LIMIT_END, SLOT};
use crate::format::reading::Reading;
use crate::format::reading::{draft, json};

/// The mode of slots and correlations.
const MODE: u16 = 0o600;

/// Slots, by `get_stored_session_id` and `cleanup_stale_sessions`.
const SLOTS: Habits = Habits {
    fresh_seconds: 24 * 3_600,
    rule: "line 2 older than 24 h",
    when_bad: "that system answers `unknown`, and only its clean-up, which no hook calls, removes the file",
    when_zoned: "that system fails to compare it, answers `unknown`, and never removes the file",
};

/// Correlations, by `get_stored_correlation_id`.
const CORRELATIONS: Habits = Habits {
    fresh_seconds: 10 * 60,
    rule: "line 2 older than 10 min",
    when_bad: "that system pairs nothing with it and never removes the file",
    when_zoned: "that system fails to compare it, pairs nothing with it, and never removes the file",
};

/// Reads a slot: the session that started last in the project.
///
/// # Errors
/// The broken file: not readable, empty, or not UTF-8.
pub(super) fn slot(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let lines = stamp::lines(stamp::text(file, reading)?, reading);
    let project = file.name().strip_prefix(SLOT).filter(|project| !project.is_empty());
    let mut record = draft::record(Format::Observability, RecordKind::Session, file, reading);
    record.variant = "session slot";
    record.context_id = project.map(Untrusted::from);
    record.title = project.unwrap_or("(no project)").into();
    record.started_at = lines.stamp.moment();
    record.expiry = lines.stamp.expiry(&SLOTS);
    record.deletion = record.expiry.as_ref().map(|expiry| Deletion {
        at: expiry.at,
        rule: "the next look-up of the ID after 24 h removes the file and answers `unknown`",
        spares: Spares::Nobody,
    });
    record.claims = project.map(|project| claim(project, &record)).into_iter().collect();
    match session(&lines.id) {
        Ok(id) => record.session_id = Some(id),
        Err(problem) => record.problems.push(problem),
    }
    record.problems.extend(lines.stamp.problem(&SLOTS));
    record.problems.extend(json::ownership_problems(file, reading, Some(MODE)));
    Ok(record)
}

fn claim(project: &str, record: &Record) -> StatedClaim {
    StatedClaim::new(ResourceKind::Project, project, "file", record.started_at)
}

/// Returns the session ID of line 1. `unknown` is stored if the hook got none; it is not an ID, so two projects that
/// store it share no session.
fn session(line: &str) -> Result<Untrusted, Problem> {
    if line == "unknown" {
        let message =
            "the stored session ID is `unknown`: the hook was given none, and that system serves it as an ID";
        return Err(Problem::new(Code::UnknownSession, message));
    }
    if !is_valid_id(line) {
        let message =
            format!("line 1 is not a session ID: {}", crate::format::reading::excerpt::excerpt(line, 40));
        return Err(Problem::new(Code::UnknownSession, message));
    }
    Ok(line.into())
}

/// Reads a file of a rate limit's name: one number is a rate limit, two lines are the slot of
/// a project of that name.
///
/// # Errors
/// The broken file: not readable, or neither of the two.
pub(super) fn rate_limit(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let text = stamp::text(file, reading)?;
    let sort =
        file.name().strip_prefix(SLOT).and_then(|name| name.strip_suffix(RATE_LIMIT_END)).unwrap_or_default();
    if text.lines().count() > 1 {
        let mut record = slot(file, reading)?;
        let note =
            format!("also the rate-limit file of `{}` sessions, which overwrites it", Untrusted::from(sort));
        record.add_fact("name", note);
        return Ok(record);
    }
    let Some(at) = text.parse().ok().and_then(marker::epoch_seconds) else {
        let why = "neither a rate limit (one number of seconds) nor a session slot (two lines)";
        return Err(draft::unusable(Format::Observability, file, reading, why));
    };
    let mut record = draft::record(Format::Observability, RecordKind::Metadata, file, reading);
    record.variant = "rate limit";
    record.detail = RecordDetail::RateLimit;
    record.title = format!("rate limit of {sort}").into();
    record.facts = [("last start", at.to_string().into())].into();
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

/// Reads a correlation: the ID that will pair a running tool's end with its start. It has no call ID, so two calls of
/// one tool in one project overwrite each other's.
///
/// # Errors
/// The broken file: not readable, empty, or not UTF-8.
pub(super) fn correlation(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let lines = stamp::lines(stamp::text(file, reading)?, reading);
    let (project, tool) = scope(file.name());
    let mut record = draft::record(Format::Observability, RecordKind::Companion, file, reading);
    record.variant = "tool correlation";
    record.context_id = Some(project.into()).filter(|project: &Untrusted| !project.is_empty());
    record.title = format!("{tool} in {project}").into();
    record.started_at = lines.stamp.moment();
    record.expiry = lines.stamp.expiry(&CORRELATIONS);
    record.facts =
        [("correlation", crate::format::reading::excerpt::excerpt(&lines.id, 80)), ("tool", tool.into())]
            .into();
    record.problems.extend(lines.stamp.problem(&CORRELATIONS));
    record.problems.extend(json::ownership_problems(file, reading, Some(MODE)));
    Ok(record)
}

/// Splits a correlation's name into project and tool. Both may hold `_`: an MCP tool's name
/// begins with `mcp__`, the others have none.
fn scope(name: &str) -> (&str, &str) {
    let scope = name.strip_prefix(CORRELATION).unwrap_or_default();
    match scope.find("_mcp__") {
        Some(at) => (scope.get(..at).unwrap_or_default(), scope.get(at + 1..).unwrap_or_default()),
        None => scope.rsplit_once('_').unwrap_or((scope, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::scope;

    #[test]
    fn a_correlation_names_project_and_tool() {
        assert_eq!(scope("claude_correlation_my_app_Bash"), ("my_app", "Bash"));
        assert_eq!(scope("claude_correlation_my_app_mcp__git__push"), ("my_app", "mcp__git__push"));
        assert_eq!(scope("claude_correlation_"), ("", ""));
    }
}
