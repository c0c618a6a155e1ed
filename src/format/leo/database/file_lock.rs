//! Rows of `file_claim_locks`: one session keeps one file for itself.

use super::tables::{FILE_LOCKS, SessionKeys, is_session};
use crate::core::model::{Expiry, Record, RecordKind, ResourceKind, StatedClaim, Untrusted};
use crate::format::leo::database::source::Source;
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;
use crate::format::reading::draft::known;
use crate::format::reading::time;

/// After how many seconds without a heartbeat LEO's sweep removes a lock.
pub(crate) const REAPED_AFTER: i64 = 600;

pub(super) fn record<'a>(
    row: &'a Cells,
    keys: &SessionKeys<'a>,
    source: &Source,
    reading: &Reading<'_>,
) -> Option<Record> {
    let path = row.text("file_path")?;
    let mut record = source.draft(RecordKind::Lock, FILE_LOCKS, path, reading);
    record.variant = "file lock";
    record.session_id = keys.holder(row).filter(|id| is_session(id)).map(Untrusted::from);
    record.started_at = source.time(row, "claimed_at");
    record.heartbeat_at = source.time(row, "heartbeat_at");
    record.written_at = record.heartbeat_at.or(record.started_at).unwrap_or(reading.now);
    record.expiry = record
        .heartbeat_at
        .map(|at| Expiry { at: time::add_seconds(at, REAPED_AFTER), rule: "heartbeat older than 600 s" });
    record.claims = vec![StatedClaim::new(ResourceKind::Files, path, FILE_LOCKS, record.started_at)];
    record.facts = known([
        ("work item", row.text("sd_id").map(Untrusted::from)),
        ("branch", row.text("branch").map(Untrusted::from)),
    ]);
    Some(record)
}
