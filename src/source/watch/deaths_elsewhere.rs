//! Systems without pidfds: nobody is waited for, and looking now and then finds the dead.

use super::notice::Notice;
use crate::core::process::ProcessId;

/// Nobody.
pub(super) struct Deaths;

impl Deaths {
    /// Says so once.
    pub(super) fn new(notice: Notice) -> Self {
        notice.lost("this system has no pidfds; deaths are seen at the next look".to_owned());
        Self
    }

    /// Waits for nobody.
    pub(super) fn follow(&mut self, _processes: &[ProcessId]) {}
}
