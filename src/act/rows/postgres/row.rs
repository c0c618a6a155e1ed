//! Rows of LEO's database: their names, and whether they are unchanged.

use crate::core::model::snapshot::row::is_in;
use crate::core::model::text::shown;
use crate::core::model::{Columns, RowChange, Value};
use crate::format::leo::database;
use crate::format::leo::database::{FILE_LOCKS, SESSIONS, key_column};

pub(crate) fn name(change: &RowChange) -> String {
    format!("{} {}", change.table, shown(&change.id))
}

/// The columns that name holders and claims; the others change with them.
pub(crate) fn claims(table: &str) -> &'static [&'static str] {
    match table {
        SESSIONS => &["sd_key", "sd_id", "worktree_path", "worktree_branch"],
        _ => &["claiming_session_id"],
    }
}

pub(crate) fn is_before(table: &str, now: Option<&Columns>, before: &Columns) -> bool {
    // A session that claims it anew does so at another moment.
    let is_claimed = || now.is_some_and(|now| now.get("claimed_at") == before.get("claimed_at"));
    is_after(table, now, before) && (table == FILE_LOCKS || is_claimed())
}

pub(crate) fn is_after(table: &str, now: Option<&Columns>, after: &Columns) -> bool {
    let has = |now: &Columns| claims(table).iter().all(|column| now.get(*column) == after.get(*column));
    if table == FILE_LOCKS { is_in(now, after) } else { now.is_some_and(has) }
}

/// Returns the keys of work items and the paths of files that some changes concern, in the order in which every
/// program takes locks.
pub(crate) fn keys(changes: &[RowChange]) -> Vec<&str> {
    let mut keys: Vec<&str> = Vec::new();
    for change in changes {
        if change.table == SESSIONS {
            keys.extend(database::mirror(&change.before).or_else(|| database::mirror(&change.after)));
        } else {
            keys.push(&change.id);
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Returns the column that names a row of a table.
pub(crate) fn key(table: &str) -> &'static str {
    key_column(table)
}

pub(crate) fn parameter(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Text(text) | Value::Real(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
    }
}
