//! Which window a person looks into, and what was seen of it.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Picture, State};
use crate::app::layer::Layer;
use crate::app::page::peek::{PeekQuestion, question};
use crate::app::sheet;
use crate::core::model::{Key, Peek};

/// For how many seconds what a pane shows counts as new.
const PANE_SECONDS: i64 = 2;

/// What is looked into.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeekState {
    /// Whether it stands beside the table, in place of the evidence.
    pub(crate) is_beside: bool,
    /// What was seen last, and of which window.
    last: Option<(Key, Arc<Peek>)>,
    /// What was looked at last, as it was then.
    asked: Option<(PeekQuestion, Option<Timestamp>, i64)>,
    /// Whether the answer is still to come.
    is_under_way: bool,
}

impl PeekState {
    /// Returns what was seen of a window, if it was looked at last.
    pub(crate) fn seen(&self, key: &Key) -> Option<&Peek> {
        self.last.as_ref().filter(|(of, _)| of == key).map(|(_, peek)| &**peek)
    }
}

impl State {
    /// Returns the window that is looked into.
    pub(crate) fn peeked(&self) -> Option<Key> {
        match self.layers.last() {
            Some(Layer::Peek { key, .. }) => Some(key.clone()),
            None if self.peek.is_beside && self.size.shows_peek(self.table.rows.len()) => self.peekable(),
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
