//! The windows that a person looks into, or brings back: what was asked about them, and what was found.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{Key, Peek, PeekQuestion, Untrusted};
use crate::core::plan::bring_back::ClosedWindow;

/// What is looked into.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeekState {
    /// Whether it stands beside the table, in place of the evidence.
    pub(crate) is_beside: bool,
    /// What was seen last, and of which window.
    pub(super) last: Option<(Key, Arc<Peek>)>,
    /// What was looked at last, as it was then.
    pub(super) asked: Option<(PeekQuestion, Option<Timestamp>, i64)>,
    /// Whether the answer is still to come.
    pub(super) is_under_way: bool,
}

impl PeekState {
    /// Returns what was seen of a window, if it was looked at last.
    pub(crate) fn seen(&self, key: &Key) -> Option<&Peek> {
        self.last.as_ref().filter(|(of, _)| of == key).map(|(_, peek)| &**peek)
    }
}

/// What is known of the windows that can be brought back.
#[derive(Clone, Debug, Default)]
pub(crate) struct BringBack {
    /// Those that have died without being closed, by a look of their own; `None` before it is done.
    closed: Option<Arc<Vec<ClosedWindow>>>,
    /// Where a window would be opened.
    pub(crate) place: &'static str,
    /// What became of each session's window.
    pub(crate) said: BTreeMap<Untrusted, String>,
    /// Whether a person has confirmed it.
    pub(crate) is_confirmed: bool,
}

impl BringBack {
    /// Takes what was found.
    pub(crate) fn find(&mut self, closed: Arc<Vec<ClosedWindow>>, place: &'static str) {
        (self.closed, self.place) = (Some(closed), place);
    }

    /// Returns the windows of some sessions, as far as they were found; `None` before the look is done.
    pub(crate) fn windows_of(&self, sessions: &[Untrusted]) -> Option<Vec<&ClosedWindow>> {
        let closed = self.closed.as_ref()?;
        Some(closed.iter().filter(|one| sessions.contains(&one.session)).collect())
    }
}
