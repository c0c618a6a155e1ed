//! LEO's PostgreSQL database: rows of tables in, records and items of work out.
//!
//! A claim is written on two surfaces: the item names its owner, and the session's own row mirrors
//! what it works on. Either can be wrong; both are shown.

mod file_lock;
mod item;
mod join;
mod release;
mod session;
mod tables;
#[cfg(test)]
mod tests;
mod trees;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

pub use self::file_lock::REAPED_AFTER;
pub use self::join::join;
pub use self::release::{OURS, SIGNS, UPDATED_AT, mirror, released, relevant, text};
pub use self::tables::{
    DIRECTIVES, EVENTS, FILE_LOCKS, MESSAGES, QUICK_FIXES, SESSIONS, Tables, columns, key_column,
};
pub use self::trees::tell_gone_trees;
use crate::core::model::record::Record;
use crate::core::model::record::format::Format;
use crate::core::model::record::kind::RecordKind;
use crate::core::model::record::location::{Location, Row};
use crate::core::model::record::ownership::Ownership;
use crate::core::model::shared::Shared;
use crate::core::model::text::Untrusted;
use crate::core::model::work::WorkItem;
use crate::format::cells::Cells;
use crate::format::{Reading, draft};

/// What is known of a database beside its rows.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its URL without a password, as rows name it.
    pub database: Untrusted,
    /// By how much this machine's clock is ahead of the server's. What the server wrote is aged
    /// by its own clock.
    pub ahead: SignedDuration,
    /// The user who looks: a database's rows have no owner on this machine.
    pub uid: u32,
}

/// What the rows of one database are.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// One record for each session that matters, each lock, and each item that no session's
    /// record stands for.
    pub records: Vec<Arc<Record>>,
    /// What is claimed, or should be.
    pub work: Shared<WorkItem>,
}

/// Reads the rows of one database: total, for any values.
pub fn read(source: &Source, tables: &Tables, reading: &Reading<'_>) -> Rows {
    let work = item::all(source, tables);
    let by_session = Held::of(&work, &tables.file_locks);
    let sessions =
        tables.sessions.iter().filter_map(|row| session::record(row, tables, &by_session, source, reading));
    let mut records: Vec<Record> = sessions.collect();
    let lonely = item::lonely(&work).map(|item| item::record(item, source, reading));
    records.extend(lonely);
    let locks = tables.file_locks.iter().filter_map(|row| file_lock::record(row, source, reading));
    records.extend(locks);
    Rows { records: records.into_iter().map(draft::finished).collect(), work: work.into() }
}

/// Returns whether a record is a session's own row.
fn is_session(record: &Record) -> bool {
    matches!(&record.location, Location::Row(row) if row.table == SESSIONS)
}

/// The items of work by the sessions that they name, and by key; and who keeps files.
struct Held<'a> {
    owned: BTreeMap<&'a str, Vec<&'a WorkItem>>,
    by_key: BTreeMap<&'a str, &'a WorkItem>,
    /// The sessions that keep a file for themselves.
    keepers: BTreeSet<&'a str>,
}

impl<'a> Held<'a> {
    fn of(work: &'a [WorkItem], file_locks: &'a [Arc<Cells>]) -> Self {
        let mut owned: BTreeMap<&str, Vec<&WorkItem>> = BTreeMap::new();
        for item in work {
            if let Some(owner) = item.owner.as_ref() {
                owned.entry(owner.raw()).or_default().push(item);
            }
        }
        let keepers = file_locks.iter().filter_map(|row| row.text("holder_session_id")).collect();
        Self { owned, by_key: work.iter().map(|item| (item.key.raw(), item)).collect(), keepers }
    }
}

impl Source {
    /// Returns a moment of the server's clock by this machine's.
    fn here(&self, at: Timestamp) -> Timestamp {
        at.checked_add(self.ahead).unwrap_or(at)
    }

    /// Returns a cell that is a time, by this machine's clock.
    fn time(&self, row: &Cells, column: &str) -> Option<Timestamp> {
        row.time(column).map(|at| self.here(at))
    }

    /// Returns the newest of some cells that are times, by this machine's clock.
    fn newest(&self, row: &Cells, columns: &[&str]) -> Option<Timestamp> {
        row.newest(columns).map(|at| self.here(at))
    }

    /// Starts the record of a row.
    fn draft(&self, kind: RecordKind, table: &'static str, id: &str, reading: &Reading<'_>) -> Record {
        let row = Row::new(self.database.clone(), table, id.into());
        let ownership = Ownership::new(self.uid, 0o600);
        Record { title: id.into(), ..draft::row(Format::Leo, kind, row, ownership, reading) }
    }
}
