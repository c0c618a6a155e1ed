//! The cells of rows: text by column, as any database gives it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::time;

/// The cells of one row as text, by column; a null or a missing column has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells(pub BTreeMap<String, String>);

impl Cells {
    pub(crate) fn text(&self, column: &str) -> Option<&str> {
        self.0.get(column).map(String::as_str)
    }

    pub(crate) fn number(&self, column: &str) -> Option<i64> {
        self.text(column)?.parse().ok()
    }

    /// Returns a cell that is a time; one without a zone is in UTC, as SQLAlchemy writes it.
    pub(crate) fn time(&self, column: &str) -> Option<Timestamp> {
        time::any(self.text(column)?, &TimeZone::UTC)
    }

    pub(crate) fn newest(&self, columns: &[&str]) -> Option<Timestamp> {
        columns.iter().filter_map(|column| self.time(column)).max()
    }
}
