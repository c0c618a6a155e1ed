//! Checks cheaply whether anything was written since the last read.

use tokio_postgres::{Client, Error};

use super::schema::{Schema, rows};
use crate::format::leo::database::{DIRECTIVES, FILE_LOCKS, QUICK_FIXES, SESSIONS, key_column};

/// Returns one row for each table, which changes when anything that matters does. The newest `updated_at` would not
/// do: writers need not set it, and a transaction that began earlier may commit later.
///
/// # Errors
/// A query failed.
pub(crate) async fn stamp(client: &Client, schema: &Schema) -> Result<Vec<Vec<Option<String>>>, Error> {
    let parts: Vec<String> = [SESSIONS, DIRECTIVES, QUICK_FIXES, FILE_LOCKS]
        .into_iter()
        .filter_map(|table| stamp_of(table, schema))
        .collect();
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    rows(client, &parts.join(" UNION ALL ")).await
}

/// The columns of which every change matters, beside the newest of each time, if a table has no marks of row versions.
fn hashed(table: &str) -> &'static [&'static str] {
    match table {
        SESSIONS => &["session_id", "sd_key", "sd_id", "status", "pid", "released_reason", "worktree_path"],
        DIRECTIVES => &["sd_key", "status", "claiming_session_id"],
        QUICK_FIXES => &["id", "status", "claiming_session_id", "pr_url", "commit_sha"],
        FILE_LOCKS => &["file_path", "holder_session_id"],
        _ => &[],
    }
}

/// The times of which a newer one matters.
const TIMES: [&str; 5] = [
    "updated_at", "heartbeat_at", "process_alive_at", "expected_silence_until",
    "current_tool_expected_end_at",
];

fn stamp_of(table: &'static str, schema: &Schema) -> Option<String> {
    // The server's own mark of each row's version changes with every write.
    if schema.has(table, "xmin") && schema.has(table, key_column(table)) {
        let version = format!("concat_ws('|', {}, xmin::text)", key_column(table));
        return Some(format!("SELECT '{table}', count(*), NULL, sum(hashtext({version})) FROM {table}"));
    }
    let texts = schema.existing_columns(table, hashed(table));
    if texts.is_empty() {
        return None;
    }
    let times = schema.existing_columns(table, &TIMES);
    let newest = times.iter().map(|name| format!("max({name})")).collect::<Vec<_>>().join(", ");
    let newest = if times.is_empty() { "NULL".to_owned() } else { format!("concat_ws(' ', {newest})") };
    Some(format!(
        "SELECT '{table}', count(*), {newest}, sum(hashtext(concat_ws('|', {}))) FROM {table}",
        texts.join(", ")
    ))
}
