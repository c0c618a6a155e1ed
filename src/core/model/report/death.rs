//! A window that was seen alive and has died since.

use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{Key, KeyKind, Reason, Strength, Untrusted, WindowView};

/// A window that was seen alive and is proven to have died since.
#[derive(Clone, Debug)]
pub(crate) struct Death {
    /// The window as it was when it was last seen alive.
    pub(crate) window: Arc<WindowView>,
    /// When it was last seen alive.
    pub(crate) seen_at: Timestamp,
    /// When it was found dead.
    pub(crate) found_at: Timestamp,
    /// What proves it.
    pub(crate) reason: Reason,
}

impl Death {
    /// Returns the key of the need that it causes.
    pub(crate) fn need(&self) -> Key {
        Key::derive(KeyKind::Need, &["death", self.window.key.as_str()])
    }

    /// Returns whether a row is the window's or that of a need it had or has now.
    pub(crate) fn has_row(&self, row: &Key) -> bool {
        let waits = || Key::derive(KeyKind::Need, &["waits", self.window.key.as_str()]);
        self.window.key == *row || self.need() == *row || waits() == *row
    }

    /// Returns its session, unless that was only guessed.
    pub(crate) fn session(&self) -> Option<&Untrusted> {
        let session = self.window.session.as_ref().filter(|session| session.strength > Strength::Guess);
        session.map(|session| &session.id)
    }
}
