//! Whether a person looks at what windows have left: then its figures are refreshed often.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether it is on a screen; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visibility(Arc<AtomicBool>);

impl Visibility {
    /// Sets whether it is; returns whether it has just come up.
    pub(crate) fn set(&self, is_shown: bool) -> bool {
        !self.0.swap(is_shown, Ordering::Relaxed) && is_shown
    }

    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
