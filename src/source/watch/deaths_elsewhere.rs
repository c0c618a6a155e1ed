//! Systems without pidfds: nobody is waited for, and looking now and then finds the dead.

use super::notice::Notice;
use crate::core::process::ProcessId;
/// The most processes that are waited for.
pub const MAX_PROCESSES: usize = 0;

/// Nobody.
pub(super) struct Deaths;

impl Deaths {
    /// Says so once.
    pub(super) fn new(notice: Notice) -> Self {
        notice.lost("this system has no pidfds; deaths are seen at the next look".to_owned());
        Self
    }

    /// Returns how many processes are waited for.
    pub(super) fn count(&self) -> usize {
        0
    }

    /// Waits for nobody.
    pub(super) fn follow(&mut self, _processes: &[ProcessId]) {}
}
