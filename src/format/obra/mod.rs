//! Obra's SQLite database: rows of tables in, records out.
//!
//! There is no schema version, so columns are taken as they are found. The table
//! `session_record` has neither a PID nor a heartbeat; who lives is told by processes
//! (`core::liveness`).

mod log;
mod pairs;
mod places;
mod release;
mod session;
mod tables;
mod task;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use self::log::{LOGS, abandoned};
pub use self::places::{COMMON, Configured, SETTINGS, is_runner, settings};
pub use self::release::{columns, released};
pub use self::tables::{SESSION, TASK, Tables};
use super::cells::Cells;
use super::{Reading, Source, draft as drafts};
use crate::core::model::record::Record;
use crate::core::model::record::format::Format;
use crate::core::model::record::kind::RecordKind;
use crate::core::model::text::Untrusted;

/// Reads the rows of one database: total, for any values.
pub fn read(source: &Source, tables: &Tables, reading: &Reading<'_>) -> Vec<Arc<Record>> {
    let pairs = pairs::pairs(&tables.sessions);
    let sessions = tables.sessions.iter().map(|row| session::record(row, tables, &pairs, source, reading));
    let tasks = tables.tasks.iter().filter_map(|row| task::record(row, tables, source, reading));
    let lost = tables.interactions.iter().map(|row| task::lost(row, source, reading));
    sessions.chain(tasks).chain(lost).map(drafts::finished).collect()
}

/// Starts the record of a row.
fn draft(
    kind: RecordKind,
    table: &'static str,
    row: &Cells,
    source: &Source,
    reading: &Reading<'_>,
) -> Record {
    let id = Untrusted::new(row.text("id").unwrap_or_default());
    source.row(Format::Obra, kind, table, id, reading)
}
