//! Conditions for the rows that matter: those that hold something, those that are held, and those that mention it.

use super::schema::Schema;
use crate::format::leo::database::{DIRECTIVES, FILE_LOCKS, QUICK_FIXES, SESSIONS};

/// Returns the condition under which a row of a table matters.
pub(crate) fn filter(table: &str, schema: &Schema) -> String {
    let mirror = if schema.has(SESSIONS, "sd_key") { "sd_key" } else { "sd_id" };
    let mirrored = format!("IN (SELECT {mirror} FROM {SESSIONS} WHERE {mirror} IS NOT NULL)");
    match table {
        SESSIONS => format!("(status <> 'released' OR {mirror} IS NOT NULL OR {})", owns(schema)),
        DIRECTIVES => {
            format!("(claiming_session_id IS NOT NULL OR status = 'in_progress' OR sd_key {mirrored})")
        }
        QUICK_FIXES => {
            format!("(claiming_session_id IS NOT NULL OR status = 'in_progress' OR id {mirrored})")
        }
        _ => "true".to_owned(),
    }
}

/// Returns the condition under which an item or a file's lock names a session as its owner. A lock refers to the key
/// of the session's row if that has one.
fn owns(schema: &Schema) -> String {
    let named = |table: &&str| schema.has(table, "claiming_session_id");
    let parts = [DIRECTIVES, QUICK_FIXES].into_iter().filter(named).map(|table| {
        format!("SELECT claiming_session_id FROM {table} WHERE claiming_session_id IS NOT NULL")
    });
    let keepers = schema
        .has(FILE_LOCKS, "holder_session_id")
        .then(|| format!("SELECT holder_session_id::text FROM {FILE_LOCKS}"));
    let by_key = keepers.as_ref().filter(|_| schema.has(SESSIONS, "id"));
    let by_key = by_key.map(|ids| format!("id::text IN ({ids})"));
    let owners = parts.chain(keepers).collect::<Vec<_>>().join(" UNION ");
    let by_id = (!owners.is_empty()).then(|| format!("session_id IN ({owners})"));
    let all: Vec<String> = by_id.into_iter().chain(by_key).collect();
    if all.is_empty() { "false".to_owned() } else { format!("({})", all.join(" OR ")) }
}
