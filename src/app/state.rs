//! Everything that the screen knows.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::bands::{Bands, Shape};
use super::deaths::Deaths;
use super::filter::Filter;
use super::geometry::Size;
use super::kept::{Kept, Start};
use super::layer::Layer;
use super::msg::{Hints, Position};
use super::news;
use super::panel::Panel;
use super::rows;
use super::rows::now;
use super::rows::row::{self, Row, Table};
use super::rows::source::Source;
use super::sheet::Sheet;
use super::view::{Place, Places, View};
use crate::config::{Access, Switch};
use crate::core::history::diff::diff;
use crate::core::history::first_told::with_first_told;
use crate::core::history::journal::{Entry, History};
use crate::core::history::timeline::{Past, Timeline};
use crate::core::model::{Bound, Cost, Household, Key, Measured, Member, ProcessId, Report};
use crate::present::age;
use crate::present::change::news as news_of;
use crate::present::lookup::{Index, keys_of_findings};
use crate::present::page::Page;
use crate::present::zone::Zone;

/// What is fixed from the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A badge for the header, such as `demo`.
    pub badge: Option<String>,
    /// Whether actions are refused.
    pub access: Access,
    /// The bounds of claimtop itself.
    pub bounds: Vec<Bound>,
    /// Whether what is observed is kept beyond the end.
    pub history: Switch,
    /// Whether a key may begin a recording.
    pub tape: Switch,
    /// The time zone in which moments are shown.
    pub zone: Zone,
    /// Where in a recording one is, when one is shown instead of the world.
    pub replayed: Option<Position>,
    /// What is kept from the last start.
    pub start: Start,
}

/// What the header of the table shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Header {
    #[default]
    Names,
    /// Also the number that sorts by each column.
    Numbers,
}

/// Which pane the keys that move are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pane {
    #[default]
    Table,
    /// That beside the table.
    Details {
        /// Its first line shown.
        scroll: usize,
    },
}

impl Pane {
    /// Returns the first line that the details show.
    pub(crate) fn scroll(self) -> usize {
        match self {
            Self::Table => 0,
            Self::Details { scroll } => scroll,
        }
    }
}

/// Whether the picture lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Picture {
    /// Each look is shown.
    #[default]
    Live,
    /// The look of this moment is kept.
    Frozen(Timestamp),
}

/// How long what was measured of a window's processes counts: to measure large ones takes milliseconds.
const MEASURED_FOR: SignedDuration = SignedDuration::from_secs(5);

/// Everything that the screen knows; only [`super::update()`] changes it.
#[derive(Clone, Debug)]
pub struct State {
    /// What is fixed from the start.
    pub(crate) options: Options,
    /// The shown report with ways in; `None` before the first look.
    pub(crate) index: Option<Arc<Index>>,
    /// A newer report that waits while the picture is frozen.
    pub(crate) waiting: Option<Arc<Report>>,
    pub(crate) picture: Picture,
    /// Whether changes are reported.
    pub(crate) hints: Hints,
    /// What the last look was like.
    pub(crate) measured: Measured,
    /// What this process costs, as it was asked last.
    pub(crate) cost: Option<Cost>,
    /// When the processes of a window were asked for last.
    asked_members_at: Option<Timestamp>,
    pub(crate) view: View,
    /// Where a person is in each view.
    pub(crate) places: Places,
    /// The filter of all views.
    pub(crate) filter: Filter,
    /// Which pane the keys that move are for.
    pub(crate) pane: Pane,
    /// What the next key chooses from, after the one that sorts.
    pub(crate) header: Header,
    pub(crate) marks: BTreeSet<Key>,
    /// What has changed since a key was pressed last.
    pub(crate) news: BTreeSet<Key>,
    /// What lies over the table, the last on top.
    pub(crate) layers: Vec<Layer>,
    /// The journal as it was read last.
    pub(crate) history: Arc<History>,
    /// What was observed.
    pub(crate) timeline: Timeline,
    /// Who died while the screen was open.
    pub(crate) deaths: Deaths,
    /// The newest report of all, shown or not.
    seen: Option<Arc<Report>>,
    /// Where what is seen is recorded, while it is.
    pub(crate) recording: Option<String>,
    /// An answer to the last key.
    pub(crate) message: Option<String>,
    pub(crate) size: Size,
    /// The present moment as far as the screen has been told.
    pub(crate) now: Timestamp,
    /// The rows of the shown view, filtered and in order.
    pub(crate) table: Table,
    /// Which of them are on the screen.
    pub(crate) bands: Bands,
    /// Those that are on the screen, with their cells, and what is reported between them.
    visible: Vec<Row>,
    /// The panel on top as it was written after the last change, if one is open.
    pub(crate) panel: Option<Panel>,
    /// The page beside the table, of the selected thing, if there is room for it.
    pub(crate) detail: Option<Page>,
}

impl State {
    /// Makes the state before the first look.
    pub fn new(options: Options, size: Size, now: Timestamp) -> Self {
        let kept = options.start.kept.clone();
        let mut state = Self::empty(options, size, now);
        if let Some(kept) = kept {
            kept.apply(&mut state.view, &mut state.places, &mut state.filter);
        }
        if !state.filter.is_empty() {
            let filter = &state.filter.text;
            state.message = Some(format!("The filter {filter} is kept from last time; Esc clears it"));
        }
        state
    }

    /// Returns what is to be kept for the next start.
    pub(crate) fn kept(&self) -> Kept {
        Kept::of(self.view, &self.places, &self.filter)
    }

    fn empty(options: Options, size: Size, now: Timestamp) -> Self {
        Self {
            options,
            index: None,
            waiting: None,
            picture: Picture::Live,
            hints: Hints::default(),
            measured: Measured::default(),
            cost: None,
            asked_members_at: None,
            view: View::default(),
            places: Places::default(),
            filter: Filter::default(),
            pane: Pane::default(),
            header: Header::default(),
            marks: BTreeSet::new(),
            news: BTreeSet::new(),
            layers: Vec::new(),
            history: Arc::default(),
            timeline: Timeline::default(),
            deaths: Deaths::default(),
            seen: None,
            recording: None,
            message: None,
            size,
            now,
            table: Table::default(),
            bands: Bands::default(),
            visible: Vec::new(),
            panel: None,
            detail: None,
        }
    }

    /// Returns the moment that ages are given for: a frozen picture does not age.
    pub(crate) fn told_at(&self) -> Timestamp {
        match self.picture {
            Picture::Live => self.now,
            Picture::Frozen(at) => at,
        }
    }

    /// Returns the shown report.
    pub fn report(&self) -> Option<&Report> {
        self.index.as_ref().map(|index| &*index.report)
    }

    /// Takes a report over as the shown one.
    pub(crate) fn take(&mut self, report: Arc<Report>) {
        let keys = keys_of_findings(&report);
        // What was shown goes before what is shown is put in order: there can be thousands of each.
        let shown = self.index.take();
        if let Some(shown) = &shown {
            news::follow(&mut self.news, shown, (&report, &keys));
        }
        let mut index = Index::with_keys(report, keys);
        index.members = shown.and_then(|shown| shown.members.clone());
        self.index = Some(Arc::new(index));
        self.tell_deaths();
        let Some(index) = &self.index else { return };
        // Nobody may press a key for days.
        self.news.retain(|key| index.has(key));
    }

    /// Returns whose processes are to be measured: those of the window whose evidence is open, not more often
    /// than every 5 s. What is replayed or frozen is as it was.
    pub(crate) fn due_household(&mut self) -> Option<Household> {
        let key = self.layers.last()?.evidence()?;
        let index = self.index.as_ref()?;
        let is_live = self.picture == Picture::Live && self.options.replayed.is_none();
        let household = index.report.household(index.target(key)).filter(|_| is_live)?;
        let is_recent = |at: Timestamp| self.now.duration_since(at).abs() < MEASURED_FOR;
        let is_other = index.members(&household.key).is_empty();
        if !is_other && self.asked_members_at.is_some_and(is_recent) {
            return None;
        }
        self.asked_members_at = Some(self.now);
        Some(household)
    }

    /// Shows what was measured of the processes of a window.
    pub(crate) fn take_members(&mut self, window: Key, members: Vec<Member>) {
        if let Some(index) = self.index.as_mut().and_then(Arc::get_mut) {
            index.members = Some((window, members));
        }
    }

    /// Shows the deaths as they are reported by now.
    fn tell_deaths(&mut self) {
        let at = match self.picture {
            Picture::Live => Timestamp::MAX,
            Picture::Frozen(at) => at,
        };
        let Some(index) = self.index.as_mut().and_then(Arc::get_mut) else { return };
        index.needs = self.deaths.needs(&index.report, at);
        index.deaths = self.deaths.told(at);
    }

    /// Takes note that a person has seen the selected death.
    pub(crate) fn acknowledge(&mut self) {
        if let Some(key) = self.selected().cloned() {
            self.deaths.acknowledge(&key);
            self.tell_deaths();
            self.refresh();
        }
    }

    /// Adds what a report shows to what was observed, also while the picture is frozen, and
    /// returns it. The first report shows what is there and no change, and so does what another machine tells first.
    pub(crate) fn observe(&mut self, report: &Arc<Report>) -> Vec<Arc<Past>> {
        // Going back in a recording undoes nothing.
        let is_back =
            |seen: &Arc<Report>| self.options.replayed.is_some() && report.taken_at <= seen.taken_at;
        if self.seen.as_ref().is_some_and(is_back) {
            return Vec::new();
        }
        let before = self.seen.replace(Arc::clone(report));
        let Some(before) = before else { return Vec::new() };
        if self.options.replayed.is_none() {
            self.deaths.follow(&before, report);
        }
        let known = with_first_told(&before, report);
        let past: Vec<Arc<Past>> = news_of(&diff(Some(&known), report)).map(Arc::new).collect();
        self.timeline.add(past.iter().cloned());
        past
    }

    /// Returns an entry of the journal by the key of its row.
    pub(crate) fn entry(&self, key: &Key) -> Option<&Entry> {
        self.history.entry(key.as_str().parse().ok()?)
    }

    /// Returns the open sheet, if one is on top.
    pub(crate) fn sheet(&self) -> Option<&Sheet> {
        self.layers.last().and_then(Layer::sheet)
    }

    /// Returns the machine at which a person looks closely: that of the opened page, sheet or details, where it is
    /// another one.
    pub(crate) fn looked_at(&self) -> Option<&str> {
        match self.layers.last() {
            Some(Layer::Evidence { key, .. }) => key.machine(),
            Some(Layer::Sheet(sheet)) => sheet.machine.as_deref(),
            Some(
                Layer::Map { .. }
                | Layer::Recent { .. }
                | Layer::Diagnosis { .. }
                | Layer::Palette(_)
                | Layer::Columns { .. }
                | Layer::Help { .. },
            ) => None,
            None if self.pane == Pane::Table => None,
            None => self.selected().and_then(Key::machine),
        }
    }

    /// Returns whether keys are typed into the open sheet.
    pub(crate) fn takes_text(&self) -> bool {
        self.sheet().is_some_and(Sheet::takes_text)
    }

    /// Returns the open sheet for changing it, wherever it lies.
    pub(crate) fn sheet_mut(&mut self) -> Option<&mut Sheet> {
        self.layers.iter_mut().find_map(Layer::sheet_mut)
    }

    /// Returns the entry that would be undone now.
    pub(crate) fn undoable(&self) -> Option<u64> {
        self.undoable_under(self.layers.last())
    }

    /// Returns the entry that would be undone while this layer is on top: what a finished sheet has
    /// done, what is open, or what is selected; where no entry is, the newest that can be undone.
    pub(crate) fn undoable_under(&self, top: Option<&Layer>) -> Option<u64> {
        match top {
            None => {
                let selected = self.selected().and_then(|key| self.entry(key));
                selected.or_else(|| self.history.newest_undoable()).map(|entry| entry.number)
            }
            Some(Layer::Sheet(sheet)) => sheet.undoable(),
            Some(Layer::Evidence { key, .. }) => {
                self.entry(key).filter(|entry| entry.can_be_undone()).map(|entry| entry.number)
            }
            Some(
                Layer::Help { .. }
                | Layer::Palette(_)
                | Layer::Columns { .. }
                | Layer::Diagnosis { .. }
                | Layer::Recent { .. }
                | Layer::Map { .. },
            ) => None,
        }
    }

    /// Returns the views that there are: that of the machines only where some are watched.
    pub(crate) fn views(&self) -> impl Iterator<Item = View> {
        let has_machines = self.report().is_some_and(|report| !report.machines.is_empty());
        View::ALL.into_iter().filter(move |view| *view != View::Machines || has_machines)
    }

    /// Returns the place in the shown view.
    pub(crate) fn place(&self) -> &Place {
        self.places.of(self.view)
    }

    pub(crate) fn selected(&self) -> Option<&Key> {
        self.place().selected.as_ref()
    }

    /// Returns the thing that keys act on: what is open, or what is selected.
    pub(crate) fn subject(&self) -> Option<&Key> {
        let open = self.layers.iter().rev().find_map(Layer::evidence);
        open.or_else(|| Some(self.target(self.selected()?)))
    }

    /// Returns what keys act on where a row is selected: what a need is about, or the row's thing.
    fn target<'k>(&'k self, key: &'k Key) -> &'k Key {
        self.index.as_ref().map_or(key, |index| index.target(key))
    }

    /// Answers a key with the reason for which it does nothing.
    pub(crate) fn say_why(&mut self, why: &str) {
        let mut letters = why.chars();
        self.message = letters.next().map(|first| first.to_uppercase().chain(letters).collect());
    }

    pub(crate) fn visible(&self) -> &[Row] {
        &self.visible
    }

    /// Returns how many rows the table can show.
    pub(crate) fn page(&self) -> usize {
        self.size.rows(self.table.rows.len())
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
        Some(Source::new(index, (&self.history, &self.timeline), self.view, self.told_at()))
    }

    /// Tells the ages as they are by now.
    pub(crate) fn pass(&mut self, now: Timestamp) {
        self.now = now;
        if self.deaths.expire(now) {
            self.tell_deaths();
            return self.refresh();
        }
        // A filter can name an age, and the history of a recording goes on.
        if self.filter.is_empty() && self.view != View::History {
            self.fill();
        } else {
            self.refresh();
        }
    }

    /// Shows of a window that its process has exited, before the look that follows tells what that
    /// means; returns whether there is such a window. A frozen picture stays as it is.
    pub(crate) fn exit(&mut self, id: ProcessId) -> bool {
        let index = self.index.as_mut().filter(|_| self.picture == Picture::Live).and_then(Arc::get_mut);
        let is_shown = index.is_some_and(|index| index.exit(id));
        if is_shown {
            self.fill();
        }
        is_shown
    }

    /// Makes the rows that are on the screen.
    fn fill(&mut self) {
        let Some(source) = self.source() else { return };
        let Bands { above, has_note, below } = &self.bands;
        let entries = |range: &Range<usize>| self.table.rows.get(range.clone()).unwrap_or_default().iter();
        let row = |entry: &row::Entry| source.row(entry.at);
        let is_hidden = |at: &usize| !above.contains(at);
        let hidden = (0..self.table.pinned).filter(is_hidden).filter_map(|at| self.table.rows.get(at));
        let note = has_note.then(|| now::note(source.report(), hidden.map(|row| &row.key)));
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

    /// Returns the highest line that can be the first one shown of the open panel.
    pub(crate) fn last_line(&self) -> usize {
        let lines = self.panel.as_ref().map_or(0, |panel| panel.page.lines.len());
        lines.saturating_sub(self.size.panel_lines())
    }

    /// Returns in how many seconds something on the screen reads differently by age alone.
    pub(crate) fn changes_in(&self) -> Option<i64> {
        if self.options.replayed.is_some() {
            return None;
        }
        self.moments().into_iter().map(|at| age::changes_in(age::seconds(self.now, at))).min()
    }

    /// Returns the moments whose ages are on the screen.
    fn moments(&self) -> Vec<Timestamp> {
        match (self.picture, &self.panel) {
            (Picture::Frozen(at), _) => vec![at],
            (Picture::Live, Some(panel)) => panel.page.moments.clone(),
            (Picture::Live, None) => {
                let cells = self.visible.iter().flat_map(|row| &row.cells);
                let details = self.detail.iter().flat_map(|page| &page.moments).copied();
                cells.filter_map(|cell| cell.since).chain(details).collect()
            }
        }
    }
}
