//! LEO's PostgreSQL database: rows of tables in, records and items of work out.
//!
//! A claim is written on two surfaces: the item names its owner, and the session's own row mirrors the item that it
//! works on. Either can be wrong; both are shown.

#![cfg_attr(
    not(feature = "postgres"),
    expect(unused_imports, reason = "who asks the database and who changes it are left out"),
    allow(dead_code, clippy::allow_attributes, reason = "and so is what these alone use")
)]

mod file_lock;
mod held;
mod item;
mod join;
mod release;
mod session;
mod source;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(crate) use self::file_lock::REAPED_AFTER;
pub use self::join::join;
pub use self::join::tell_gone_trees;
pub(crate) use self::release::{SIGNS, UPDATED_AT, mirror, released, relevant, text};
use self::tables::SessionKeys;
pub use self::tables::{DIRECTIVES, EVENTS, FILE_LOCKS, MESSAGES, QUICK_FIXES, SESSIONS, Tables};
pub(crate) use self::tables::{columns, key_column};
use crate::core::model::{Record, WorkItem};
use crate::format::leo::database::held::Holdings;
pub use crate::format::leo::database::source::Source;
use crate::format::reading::Reading;
use crate::format::reading::draft;

/// The records of one database.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// One record for each session that matters, each lock, and each item without a session's record.
    pub records: Vec<Arc<Record>>,
    /// The items that are claimed, or should be.
    pub work: Arc<[WorkItem]>,
}

/// Reads the rows of one database: total, for any values.
pub fn read(source: &Source, tables: &Tables, reading: &Reading<'_>) -> Rows {
    let work = item::all(source, tables);
    let keys = SessionKeys::new(&tables.sessions);
    let by_session = Holdings::from_rows(&work, &tables.file_locks, &keys);
    let sessions =
        tables.sessions.iter().filter_map(|row| session::record(row, tables, &by_session, source, reading));
    let mut records: Vec<Record> = sessions.collect();
    let lonely = item::lonely(&work).map(|item| item::record(item, source, reading));
    records.extend(lonely);
    let locks = tables.file_locks.iter().filter_map(|row| file_lock::record(row, &keys, source, reading));
    records.extend(locks);
    Rows { records: records.into_iter().map(draft::finished).collect(), work: work.into() }
}
