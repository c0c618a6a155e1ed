//! The changes of a release in LEO's rows, as pure data.

use jiff::Timestamp;

use super::tables::{DIRECTIVES, FILE_LOCKS, QUICK_FIXES, SESSIONS};
use crate::core::model::{Columns, Value};
use crate::format::reading::cells::Cells;

/// The prefix of every reason that claimtop gives.
pub(crate) const OURS: &str = "claimtop";

/// The columns of a row that a release relies on or changes; not every deployment has all.
/// Heartbeats are not among them: whether the holder lives is judged anew under the row's lock. Of
/// a file's lock every column matters: it goes as a whole.
pub(crate) fn relevant(table: &str) -> &'static [&'static str] {
    match table {
        SESSIONS => &[
            "session_id", "sd_key", "sd_id", "track", "status", "claimed_at", "worktree_path",
            "worktree_branch", "released_reason", "released_at",
        ],
        DIRECTIVES => &["sd_key", "status", "claiming_session_id", "active_session_id", "is_working_on"],
        QUICK_FIXES => &["id", "status", "claiming_session_id", "pr_url", "commit_sha"],
        _ => &[],
    }
}

/// When a row was last written.
pub(crate) const UPDATED_AT: &str = "updated_at";

/// The signs of life in a session's row, and when it was last written, which shows whether a process is younger than
/// its writer.
pub(crate) const SIGNS: &[&str] = &[
    "heartbeat_at", "process_alive_at", "last_tool_at", "expected_silence_until",
    "current_tool_expected_end_at", "is_alive", UPDATED_AT,
];

/// Returns a row after its release; `None` if it holds nothing that could be released.
pub(crate) fn released(table: &str, before: &Columns, why: &str) -> Option<Columns> {
    let mut after = before.clone();
    let mut set = |name: &str, value: Value| {
        if let Some(column) = after.get_mut(name) {
            *column = value;
        }
    };
    match table {
        SESSIONS => {
            mirror(before)?;
            for name in ["sd_key", "sd_id", "track", "claimed_at", "worktree_path", "worktree_branch"] {
                set(name, Value::Null);
            }
            // A row that is released or stale keeps its status: the table's own function would revive it.
            if text(before, "status") == Some("active") {
                set("status", Value::Text("idle".to_owned()));
            }
            set("released_reason", Value::Text(format!("{OURS}: {why}")));
            // The server dates it.
            after.remove("released_at");
        }
        DIRECTIVES | QUICK_FIXES => {
            let holder = text(before, "claiming_session_id")?;
            set("claiming_session_id", Value::Null);
            if text(before, "active_session_id") == Some(holder) {
                set("active_session_id", Value::Null);
                set("is_working_on", Value::Text("false".to_owned()));
            }
            if table == QUICK_FIXES && is_reopened(before) {
                set("status", Value::Text("open".to_owned()));
            }
        }
        // LEO's own sweep deletes it.
        FILE_LOCKS => return Some(Columns::new()),
        _ => return None,
    }
    Some(after)
}

/// Returns the key that a session's row names.
pub(crate) fn mirror(columns: &Columns) -> Option<&str> {
    text(columns, "sd_key").or_else(|| text(columns, "sd_id"))
}

/// Returns whether a quick fix waits again: it was begun, without a result.
fn is_reopened(before: &Columns) -> bool {
    text(before, "status") == Some("in_progress")
        && text(before, "pr_url").is_none()
        && text(before, "commit_sha").is_none()
}

/// Returns a column that holds some text.
pub(crate) fn text<'a>(columns: &'a Columns, name: &str) -> Option<&'a str> {
    match columns.get(name)? {
        Value::Text(text) if !text.is_empty() => Some(text),
        Value::Text(_) | Value::Null | Value::Integer(_) | Value::Real(_) => None,
    }
}

/// Returns whether claimtop has released a session, without a sign of life since. An older claimtop left the heartbeat
/// that LEO's own function writes, in the transaction's one moment.
pub(super) fn is_ours(row: &Cells) -> bool {
    let is_by_us = row.text("released_reason").is_some_and(|reason| reason.starts_with(OURS));
    let is_older = |at: Timestamp| {
        ["heartbeat_at", "process_alive_at"]
            .iter()
            .all(|sign| row.text(sign).is_none() || row.time(sign).is_some_and(|sign| sign <= at))
    };
    is_by_us && row.time("released_at").is_some_and(is_older)
}
