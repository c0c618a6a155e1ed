//! Which windows have ended since the look before.

use crate::core::judge::tombstone::keeper::proof;
use crate::core::model::{EndedWindow, ProcessId, Report, Snapshot};

/// Returns the windows of a report whose processes this look, at the whole machine, proves to have ended. A window
/// that is merely no longer visible does not count.
pub(crate) fn ended(before: &Report, snapshot: &Snapshot) -> Vec<EndedWindow> {
    let windows = before.windows.iter();
    let ended = windows.filter_map(|window| {
        let id = ProcessId { pid: window.pid, start_ticks: window.start_ticks };
        let (reason, _) = proof(id, snapshot)?;
        Some(EndedWindow { window: window.key.clone(), reason })
    });
    ended.collect()
}
