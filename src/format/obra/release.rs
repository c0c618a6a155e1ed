//! The changes of a safe release in a row, as pure data.

use super::tables::{SESSION, TASK};
use crate::core::model::{Columns, Value};
use crate::format::spec::Release;

/// The columns of a row that a release relies on or changes; not every database has all.
pub(crate) fn columns(table: &str) -> &'static [&'static str] {
    match table {
        SESSION => &[
            "session_id", "project_id", "milestone_id", "task_id", "started_at", "ended_at", "summary",
            "status", "total_tokens", "total_turns", "total_cost_usd", "created_at", "updated_at",
        ],
        TASK => &[
            "project_id", "status", "assigned_to", "retry_count", "started_at", "completed_at", "updated_at",
            "is_deleted",
        ],
        _ => &[],
    }
}

/// Returns a row after its release; `None` if it holds nothing that could be released. A session is abandoned, as
/// Obra's own code would do; a task waits again, which is the only state that a new scheduler looks for.
pub(super) fn released(table: &str, before: &Columns, release: Release<'_>) -> Option<Columns> {
    let text = |text: String| Value::Text(text);
    let status = match before.get("status")? {
        Value::Text(status) => status.as_str(),
        Value::Null | Value::Integer(_) | Value::Real(_) => return None,
    };
    let mut after = before.clone();
    let mut set = |name: &str, value: Value| {
        if let Some(column) = after.get_mut(name) {
            *column = value;
        }
    };
    match (table, status) {
        (SESSION, "active") => {
            set("status", text("abandoned".to_owned()));
            set("ended_at", text(release.at.strftime("%Y-%m-%d %H:%M:%S.%6f").to_string()));
            if before.get("summary") == Some(&Value::Null) {
                set("summary", text(format!("Released by claimtop: {}", release.why)));
            }
        }
        (TASK, "RUNNING" | "READY" | "RETRYING") => set("status", text("PENDING".to_owned())),
        _ => return None,
    }
    set("updated_at", text(release.at.strftime("%Y-%m-%d %H:%M:%S").to_string()));
    Some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(summary: Value, expected: &str) {
        let status = Value::Text("active".to_owned());
        let before = [("status".to_owned(), status), ("summary".to_owned(), summary)].into();
        let why = "nothing proves whether the holder is alive or dead (no-heartbeat)";
        let release = Release { at: "2026-11-20T22:00:00Z".parse().unwrap(), why };
        let after = released(SESSION, &before, release).unwrap();
        assert_eq!(after["summary"], Value::Text(expected.to_owned()));
    }

    #[test]
    fn a_summary_says_what_was_known_unless_there_is_one() {
        check(
            Value::Null,
            "Released by claimtop: nothing proves whether the holder is alive or dead (no-heartbeat)",
        );
        check(Value::Text("done".to_owned()), "done");
    }
}
