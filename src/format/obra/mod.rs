//! Obra's SQLite database: rows of tables in, records out.
//!
//! There is no schema version, so the existing columns are used. The table `session_record` has neither a PID nor a
//! heartbeat; processes show which of them live (`core::liveness`).

mod log;
mod named;
mod pairs;
mod places;
mod release;
mod row;
mod session;
mod tables;
mod task;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(crate) use self::log::{LOGS, abandoned};
pub use self::named::named;
pub(crate) use self::places::{COMMON, Configuration, SETTINGS, is_runner, settings};
pub(crate) use self::release::columns;
use self::release::released;
pub use self::tables::Tables;
pub(crate) use self::tables::{SESSION, TASK};
use crate::core::model::Record;
use crate::format::Source;
use crate::format::reading::Reading;
use crate::format::reading::draft as drafts;
use crate::format::spec::Spec;

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec { released, is_backed_up: true, ..Spec::of_files(&[]) };

/// Reads the rows of one database: total, for any values.
pub fn read(source: &Source, tables: &Tables, reading: &Reading<'_>) -> Vec<Arc<Record>> {
    let pairs = pairs::pairs(&tables.sessions);
    let sessions = tables.sessions.iter().map(|row| session::record(row, tables, &pairs, source, reading));
    let tasks = tables.tasks.iter().filter_map(|row| task::record(row, tables, source, reading));
    let lost = tables.interactions.iter().map(|row| task::lost(row, source, reading));
    sessions.chain(tasks).chain(lost).map(drafts::finished).collect()
}
