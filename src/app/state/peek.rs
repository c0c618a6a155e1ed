//! Which window a person looks into, and when it is looked at.

use std::sync::Arc;

use super::{Picture, State};
use crate::app::layer::Layer;
use crate::app::sheet;
use crate::core::model::{Key, Peek, PeekQuestion, SessionPlace, WindowState, Work};
use crate::present::report_index::Index;

/// For how many seconds what a pane shows counts as new.
const PANE_SECONDS: i64 = 2;

impl State {
    /// Returns the window that is looked into.
    pub(crate) fn peeked(&self) -> Option<Key> {
        match self.layers.last() {
            Some(Layer::Peek { key, .. }) => Some(key.clone()),
            None if self.peek.is_beside && self.beside().shows_peek() => self.peekable(),
            Some(_) | None => None,
        }
    }

    /// Returns the window, or the record of a dead one, that a person can look into where a thing is chosen.
    pub(crate) fn peekable(&self) -> Option<Key> {
        let (index, key) = self.index.as_deref().zip(self.subject())?;
        let window = || sheet::window(index, key).map(|window| window.key.clone());
        let dead = || sheet::targets::losing(index, key).filter(|key| index.window(key).is_none());
        window().or_else(dead)
    }

    /// Returns what is to be looked at now: the window has changed, or its session has, or its pane may have.
    pub(crate) fn due_peek(&mut self) -> Option<PeekQuestion> {
        let key = self.peeked()?;
        if self.peek.is_under_way || self.options.replayed.is_some() || self.picture != Picture::Live {
            return None;
        }
        let index = self.index.as_deref()?;
        let question = question(index, &key)?;
        let window = index.window(&key).and_then(|window| window.work.as_ref());
        let written_at = window.map(|work| work.written_at);
        let second = question.place.as_ref().map_or(0, |_| self.now.as_second() / PANE_SECONDS);
        let asked = Some((question.clone(), written_at, second));
        if self.peek.asked == asked {
            return None;
        }
        (self.peek.asked, self.peek.is_under_way) = (asked, true);
        Some(question)
    }

    /// Takes what was seen of a window; returns whether it is shown.
    pub(crate) fn take_peek(&mut self, key: Key, peek: Arc<Peek>) -> bool {
        let is_shown = self.peeked().as_ref() == Some(&key);
        self.peek.is_under_way = false;
        self.peek.last = Some((key, peek));
        is_shown
    }
}

/// Returns what is to be looked at for a window of this machine.
fn question(index: &Index, key: &Key) -> Option<PeekQuestion> {
    let window = index.window(key).filter(|_| key.machine().is_none());
    let session = |work: &Work| SessionPlace {
        format: work.format,
        session: work.session.clone(),
        path: work.path.clone(),
    };
    if let Some(window) = window {
        let place =
            Some(window.place.clone()).filter(|_| window.has_pane() && window.state != WindowState::Zombie);
        return Some(PeekQuestion { key: key.clone(), session: window.work.as_deref().map(session), place });
    }
    let (_, work) = index.report.owner_of_edits(key).filter(|_| key.machine().is_none())?;
    Some(PeekQuestion { key: key.clone(), session: Some(session(work)), place: None })
}
