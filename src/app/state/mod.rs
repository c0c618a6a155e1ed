//! Everything that the screen knows.

pub(crate) mod activity;
mod bring_back;
mod look;
mod peek;
mod table;
pub(crate) mod windows;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::kept::{ScreenState, Start};
use super::layer::Layer;
use super::msg::{Hints, Position};
use super::rows::row::{Row, Table};
use super::sheet::Sheet;
use crate::app::attention::deaths::Deaths;
use crate::app::attention::unseen::UnseenWindows;
use crate::app::page::panel::Panel;
use crate::app::state::activity::Activity;
use crate::app::state::windows::{BringBack, PeekState};
use crate::app::table::bands::Bands;
use crate::app::table::filter::{Filter, Focus};
use crate::app::table::geometry::Size;
use crate::app::table::view::{View, ViewPosition, ViewPositions};
use crate::config::preference::Preferences;
use crate::config::{Access, Switch};
use crate::core::history::first_told::EverTold;
use crate::core::history::journal::{Entry, History};
use crate::core::history::timeline::Timeline;
use crate::core::model::{Cost, Key, Limit, ListedVersion, LookStats, Report};
use crate::present::report_index::Index;
use crate::present::text::age;
use crate::present::text::page::Page;
use crate::present::text::zone::Zone;

/// What is fixed from the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A badge for the header, such as `demo`.
    pub badge: Option<String>,
    /// Whether actions are refused.
    pub access: Access,
    /// The bounds of claimtop itself.
    pub bounds: Vec<Limit>,
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
    /// What a person may set, as it is at the start.
    pub preferences: Preferences,
    /// The configuration file, where there is a place for one.
    pub config_file: Option<String>,
    /// What is said once, at the first start.
    pub greeting: Option<String>,
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
    pub(crate) measured: LookStats,
    /// What this process costs, as it was asked last.
    pub(crate) cost: Option<Cost>,
    /// When the processes of a window were asked for last.
    asked_members_at: Option<Timestamp>,
    pub(crate) view: View,
    /// Where a person is in each view.
    pub(crate) places: ViewPositions,
    /// The filter of all views.
    pub(crate) filter: Filter,
    /// Which pane the keys that move are for.
    pub(crate) pane: Pane,
    /// Whether a person wants the table alone.
    pub(crate) are_details_hidden: bool,
    /// How busy each window was lately.
    pub(crate) activity: Activity,
    /// What a person has set.
    pub(crate) preferences: Preferences,
    /// What the next key chooses from, after the one that sorts.
    pub(crate) header: Header,
    pub(crate) marks: BTreeSet<Key>,
    /// What has changed since a key was pressed last.
    pub(crate) news: BTreeSet<Key>,
    /// What lies over the table, the last on top.
    pub(crate) layers: Vec<Layer>,
    /// How many sheets were opened.
    pub(crate) sheets: u64,
    /// The versions of what this window wrote, as they were read last.
    pub(crate) versions: Option<(Key, Arc<Vec<ListedVersion>>)>,
    /// Which window a person looks into.
    pub(crate) peek: PeekState,
    /// The dead windows that a person may bring back.
    pub(crate) bring_back: BringBack,
    /// The journal as it was read last.
    pub(crate) history: Arc<History>,
    /// What was observed.
    pub(crate) timeline: Timeline,
    /// Who died while the screen was open.
    pub(crate) deaths: Deaths,
    /// The windows that are done and were not looked at since.
    pub(crate) unseen: UnseenWindows,
    /// The newest report of all, shown or not.
    seen: Option<Arc<Report>>,
    /// The machines whose first words are behind us.
    ever_told: EverTold,
    /// Where what is seen is recorded, while it is.
    pub(crate) recording: Option<String>,
    /// An answer to the last key.
    pub(crate) message: Option<String>,
    pub(crate) size: Size,
    /// The present moment, as the screen knows it.
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
        let (kept, greeting) = (options.start.kept.clone(), options.greeting.clone());
        let mut state = Self::empty(options, size, now);
        state.message = greeting;
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
    pub(crate) fn kept(&self) -> ScreenState {
        ScreenState::from_screen(self.view, &self.places, &self.filter)
    }

    fn empty(options: Options, size: Size, now: Timestamp) -> Self {
        Self {
            preferences: options.preferences,
            options,
            index: None,
            waiting: None,
            picture: Picture::Live,
            hints: Hints::default(),
            measured: LookStats::default(),
            cost: None,
            asked_members_at: None,
            view: View::default(),
            places: ViewPositions::default(),
            filter: Filter::default(),
            pane: Pane::default(),
            are_details_hidden: false,
            activity: Activity::default(),
            header: Header::default(),
            marks: BTreeSet::new(),
            news: BTreeSet::new(),
            layers: Vec::new(),
            sheets: 0,
            versions: None,
            peek: PeekState::default(),
            bring_back: BringBack::default(),
            history: Arc::default(),
            timeline: Timeline::default(),
            deaths: Deaths::default(),
            unseen: UnseenWindows::default(),
            seen: None,
            ever_told: EverTold::default(),
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
            Some(Layer::Evidence { key, .. } | Layer::Versions { key, .. } | Layer::Peek { key, .. }) => {
                key.machine()
            }
            Some(Layer::Sheet(sheet)) => sheet.machine.as_deref(),
            Some(
                Layer::Map { .. }
                | Layer::Recent { .. }
                | Layer::BringBack { .. }
                | Layer::Diagnosis { .. }
                | Layer::Palette(_)
                | Layer::Columns { .. }
                | Layer::Settings { .. }
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

    /// Returns the open sheet if it has this number, or without one if it is about this machine.
    pub(crate) fn sheet_of(&mut self, number: Option<u64>) -> Option<&mut Sheet> {
        self.sheet_mut().filter(|sheet| match number {
            Some(number) => sheet.number == number,
            None => sheet.machine.is_none(),
        })
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
            Some(Layer::Evidence { key, .. }) => self
                .entry(key)
                .filter(|entry| entry.can_be_undone() || entry.is_open())
                .map(|entry| entry.number),
            Some(
                Layer::Help { .. }
                | Layer::Palette(_)
                | Layer::Columns { .. }
                | Layer::Settings { .. }
                | Layer::Diagnosis { .. }
                | Layer::Recent { .. }
                | Layer::Versions { .. }
                | Layer::Peek { .. }
                | Layer::BringBack { .. }
                | Layer::Map { .. },
            ) => None,
        }
    }

    /// Returns the key of the entry that did not end and that is selected, or open, while this layer is on top.
    pub(crate) fn unfinished_under<'a>(&'a self, top: Option<&'a Layer>) -> Option<&'a Key> {
        let key = match top {
            None => self.target(self.selected()?),
            Some(Layer::Evidence { key, .. }) => key,
            Some(_) => return None,
        };
        let index = self.index.as_deref()?;
        let about = index.finding(key).and_then(|finding| finding.subjects.first()).unwrap_or(key);
        Some(about).filter(|about| about.entry().is_some())
    }

    /// Returns the views that have something here, and the shown one. The others are behind their digits.
    pub(crate) fn views(&self) -> impl Iterator<Item = View> {
        View::ALL.into_iter().filter(|view| *view == self.view || self.has_any(*view))
    }

    /// Returns whether there is anything of a view's kind here; records of agents' own are in their windows.
    fn has_any(&self, view: View) -> bool {
        let has = |is_there: fn(&Report) -> bool| self.report().is_some_and(is_there);
        match view {
            View::Now | View::Windows | View::LeftOvers | View::History => true,
            View::Sessions => has(|report| report.records().any(|record| !record.format.is_of_an_agent())),
            View::Claims => has(|report| !report.claims.is_empty()),
            View::Problems => has(|report| !report.problems().is_empty()),
            View::Machines => has(|report| !report.machines.is_empty()),
        }
    }

    /// Returns whether keys go into the filter's text.
    pub(crate) fn takes_filter(&self) -> bool {
        self.filter.focus == Focus::Text && self.layers.is_empty()
    }

    /// Returns the place in the shown view.
    pub(crate) fn place(&self) -> &ViewPosition {
        self.places.place(self.view)
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
