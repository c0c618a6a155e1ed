//! The record of a row.

use crate::core::model::{Format, Record, RecordKind, Untrusted};
use crate::format::Source;
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;

/// Starts the record of a row.
pub(crate) fn draft(
    kind: RecordKind,
    table: &'static str,
    row: &Cells,
    source: &Source,
    reading: &Reading<'_>,
) -> Record {
    let id = Untrusted::new(row.text("id").unwrap_or_default());
    source.row(Format::Obra, kind, table, id, reading)
}
