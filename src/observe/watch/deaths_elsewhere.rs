//! Systems without pidfds and kqueue(2): exits are found by polling.

use crate::core::model::ProcessId;
use crate::observe::watch::notice::Notice;

/// The most processes that are waited for.
pub(crate) const MAX_PROCESSES: usize = 0;

/// Watches no process.
pub(crate) struct Deaths;

impl Deaths {
    /// Reports once that exits are not watched.
    pub(crate) fn new(notice: Notice) -> Self {
        notice.lost("this system does not report process exits; deaths are seen at the next scan".to_owned());
        Self
    }

    /// Returns how many processes are waited for.
    pub(crate) fn count(&self) -> usize {
        0
    }

    /// Watches no process.
    pub(crate) fn follow(&mut self, _processes: &[ProcessId]) {}
}
