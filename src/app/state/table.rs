//! Which rows the table has, and which of them are on the screen.

use std::ops::Range;

use jiff::Timestamp;

use crate::app::rows;
use crate::app::rows::now;
use crate::app::rows::row::{self, Row};
use crate::app::rows::source::Source;
use crate::app::state::State;
use crate::app::table::bands::{Bands, Shape};
use crate::app::table::geometry::Detail;
use crate::app::table::view::View;
use crate::core::model::Key;

impl State {
    pub(crate) fn visible(&self) -> &[Row] {
        &self.visible
    }

    /// Returns how many rows the table can show.
    pub(crate) fn page(&self) -> usize {
        self.size.rows(self.beside())
    }

    /// Returns where the details of the selected thing go.
    pub(crate) fn beside(&self) -> Detail {
        if self.are_details_hidden {
            return Detail::None;
        }
        let detail = self.size.detail(self.table.rows.len());
        if self.peek.is_beside { detail.in_one_part() } else { detail }
    }

    /// Returns how many lines of details are on the screen.
    pub(crate) fn detail_lines(&self) -> usize {
        self.size.detail_lines(self.beside())
    }

    /// Makes the rows anew and keeps the selection on its thing.
    pub(crate) fn refresh(&mut self) {
        let Some(source) = self.source() else { return };
        self.table = rows::table(&source, &self.filter, self.place().sort);
        self.follow();
    }

    /// Returns what the rows of the shown view are made of.
    fn source(&self) -> Option<Source<'_>> {
        let index = self.index.as_deref()?;
        let past = (&*self.history, &self.timeline, &self.activity);
        Some(Source::new(index, past, self.view, self.told_at()))
    }

    /// Updates the ages.
    pub(crate) fn pass(&mut self, now: Timestamp) {
        self.now = now;
        if self.deaths.expire(now) {
            self.show_needs();
            return self.refresh();
        }
        // A filter can name an age, and the history of a recording goes on.
        if self.filter.is_empty() && self.view != View::History {
            self.fill();
        } else {
            self.refresh();
        }
    }

    /// Makes the rows that are on the screen.
    pub(super) fn fill(&mut self) {
        let Some(source) = self.source() else { return };
        let Bands { above, has_note, below } = &self.bands;
        let entries = |range: &Range<usize>| self.table.rows.get(range.clone()).unwrap_or_default().iter();
        let row = |entry: &row::Entry| source.row(entry.at);
        let is_hidden = |at: &usize| !above.contains(at);
        let hidden = (0..self.table.pinned).filter(is_hidden).filter_map(|at| self.table.rows.get(at));
        let note = has_note.then(|| now::note(source.index, hidden.map(|row| &row.key)));
        let below = entries(below).filter_map(row);
        self.visible = entries(above).filter_map(row).chain(note).chain(below).collect();
    }

    /// Returns whether a line says that nothing needs a person.
    fn is_calm(&self) -> bool {
        let has_rows = self.table.rows.len() > self.table.pinned;
        self.view == View::Now && self.table.pinned == 0 && has_rows && self.filter.is_empty()
    }

    /// Puts the selection on its thing's row, or on the neighbour when the thing is gone.
    fn follow(&mut self) {
        let rows = &self.table.rows;
        let place = self.places.of_mut(self.view);
        let row_of = |key: &Key| rows.iter().position(|row| row.key == *key);
        let index = self.index.as_deref();
        // The cursor stays on a window that has died.
        let death = |key: &Key| row_of(&index?.death(key)?.need());
        let found = place.selected.as_ref().and_then(|key| row_of(key).or_else(|| death(key)));
        place.at = found.unwrap_or(place.at).min(rows.len().saturating_sub(1));
        place.selected = rows.get(place.at).map(|row| row.key.clone());
        self.scroll_to_selection();
    }

    /// Moves the first visible row so that the selected one is on the screen, and makes the rows there.
    pub(crate) fn scroll_to_selection(&mut self) {
        let (rows, pinned) = (self.table.rows.len(), self.table.pinned);
        let shape = Shape { page: self.page(), pinned, rows, is_calm: self.is_calm() };
        let place = self.places.of_mut(self.view);
        self.bands = Bands::new(shape, place.at, place.top);
        place.top = self.bands.below.start;
        self.fill();
    }
}
