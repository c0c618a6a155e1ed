//! The sessions of a database that are named in the arguments of processes.

use std::collections::BTreeSet;

use super::tables::{Tables, is_active};
use crate::core::model::text::is_uuid;
use crate::core::model::{NamedSession, NamedSessions, ProcessTable, Untrusted};
use crate::format::reading::cells::Cells;

/// Returns the sessions of a database, open or not, that arguments of these processes name.
pub fn named(tables: &Tables, processes: &ProcessTable) -> NamedSessions {
    let details = processes.by_pid.values().filter_map(|process| process.details.as_ref());
    let arguments = details.flat_map(|details| &details.argv).map(Untrusted::raw);
    let values = arguments.map(|argument| argument.rsplit('=').next().unwrap_or_default());
    let named: BTreeSet<&str> = values.filter(|value| is_uuid(value)).collect();
    let row = |row: &Cells| {
        let id = row.text("session_id").filter(|id| named.contains(id))?;
        Some(NamedSession {
            id: id.into(),
            status: row.text("status").unwrap_or_default().into(),
            is_open: is_active(row),
            ended_at: row.newest(&["ended_at", "updated_at"]),
        })
    };
    NamedSessions { rows: tables.newest.iter().filter_map(row).collect(), is_whole: !tables.has_older }
}
