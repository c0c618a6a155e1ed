//! Facts about a database beside its rows.

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{Format, Location, Ownership, Record, RecordKind, Row, Untrusted};
use crate::format::leo::database::tables::SESSIONS;
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;
use crate::format::reading::draft;

/// Facts about a database beside its rows.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its URL without a password, as rows name it.
    pub database: Untrusted,
    /// How far this machine's clock is ahead of the server's. Times that the server wrote are aged by its own clock.
    pub ahead: SignedDuration,
    /// The user who looks: a database's rows have no owner on this machine.
    pub uid: u32,
}

/// Returns whether a record is a session's own row.
pub(crate) fn is_session(record: &Record) -> bool {
    matches!(&record.location, Location::Row(row) if row.table == SESSIONS)
}

impl Source {
    /// Returns a moment of the server's clock by this machine's.
    pub(crate) fn here(&self, at: Timestamp) -> Timestamp {
        at.checked_add(self.ahead).unwrap_or(at)
    }

    /// Returns a cell that is a time, by this machine's clock.
    pub(crate) fn time(&self, row: &Cells, column: &str) -> Option<Timestamp> {
        row.time(column).map(|at| self.here(at))
    }

    /// Returns the newest of some cells that are times, by this machine's clock.
    pub(crate) fn newest(&self, row: &Cells, columns: &[&str]) -> Option<Timestamp> {
        row.newest(columns).map(|at| self.here(at))
    }

    /// Starts the record of a row.
    pub(crate) fn draft(
        &self,
        kind: RecordKind,
        table: &'static str,
        id: &str,
        reading: &Reading<'_>,
    ) -> Record {
        let row = Row::new(self.database.clone(), table, id.into());
        let ownership = Ownership::new(self.uid, 0o600);
        Record { title: id.into(), ..draft::row(Format::Leo, kind, row, ownership, reading) }
    }
}
