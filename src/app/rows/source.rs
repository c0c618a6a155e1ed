//! What the rows of a view are made of, one by one.

use jiff::Timestamp;

use super::collisions::Collisions;
use super::history::{self, Item};
use super::row::{Column, Row, badness};
use super::sought::sought;
use super::{claims, left_overs, machines, now, problems, sessions, windows};
use crate::app::state::activity::Activity;
use crate::app::table::order::counting;
use crate::app::table::view::View;
use crate::core::history::journal::History;
use crate::core::history::timeline::Timeline;
use crate::core::model::{Code, Key, WindowView};
use crate::present::report_index::Index;

/// What the rows of a view are made of, as they read at some moment.
pub(crate) struct Source<'a> {
    pub(crate) index: &'a Index,
    view: View,
    now: Timestamp,
    /// Of the history alone: what was done and observed, the newest first.
    past_items: Vec<Item<'a>>,
    /// The windows, also those that have gone and are still shown.
    windows: Vec<&'a WindowView>,
    collisions: Option<Collisions<'a>>,
    activity: &'a Activity,
}

impl<'a> Source<'a> {
    pub(crate) fn new(
        index: &'a Index,
        (journal, timeline, activity): (&'a History, &'a Timeline, &'a Activity),
        view: View,
        now: Timestamp,
    ) -> Self {
        let past_items = match view {
            View::History => history::items(journal, timeline, now),
            View::Now
            | View::Windows
            | View::Sessions
            | View::Claims
            | View::Problems
            | View::LeftOvers
            | View::Machines => Vec::new(),
        };
        let windows = match view {
            View::Now => index.report.windows.iter().collect(),
            View::Windows => index.gone().chain(&index.report.windows).collect(),
            View::Sessions
            | View::Claims
            | View::Problems
            | View::LeftOvers
            | View::History
            | View::Machines => Vec::new(),
        };
        let collisions = matches!(view, View::Now | View::Windows).then(|| Collisions::from_index(index));
        Self { index, view, now, past_items, windows, collisions, activity }
    }

    pub(crate) fn len(&self) -> usize {
        let report = &self.index.report;
        match self.view {
            View::Now => self.index.needs.len() + self.windows.len(),
            View::Windows => self.windows.len(),
            View::Sessions => report.records.len(),
            View::Claims => report.claims.len(),
            View::Problems => report.problems().len(),
            View::LeftOvers => report.left_overs.len() + report.left_trees.len() + report.left_stashes.len(),
            View::History => self.past_items.len(),
            View::Machines => report.machines.len(),
        }
    }

    /// Returns how many of them stand first, in their own order, whatever a person sorts by.
    pub(crate) fn pinned(&self) -> usize {
        if self.view == View::Now { self.index.needs.len() } else { 0 }
    }

    /// Makes the row of one of them.
    pub(crate) fn row(&self, at: usize) -> Option<Row> {
        let (index, now) = (self.index, self.now);
        let report = &index.report;
        let mut row = match self.view {
            View::Now => match at.checked_sub(index.needs.len()) {
                None => now::need(index, index.needs.get(at)?, now),
                Some(at) => {
                    let collisions = self.collisions.as_ref()?;
                    now::window((collisions, self.activity), self.windows.get(at)?, now)
                }
            },
            View::Windows => windows::row(self.collisions.as_ref()?, self.windows.get(at)?, now),
            View::Sessions => sessions::row(index, report.records.get(at)?, now),
            View::Claims => claims::row(index, report.claims.get(at)?, now),
            View::Problems => problems::row(index, index.nth_finding(at)?),
            View::LeftOvers => match at.checked_sub(report.left_overs.len()) {
                None => left_overs::row(index, report.left_overs.get(at)?, now),
                Some(at) => match at.checked_sub(report.left_trees.len()) {
                    None => left_overs::tree(index, report.left_trees.get(at)?, now),
                    Some(at) => left_overs::stash(report.left_stashes.get(at)?, now),
                },
            },
            View::History => return Some(self.past_items.get(at)?.row(now)),
            View::Machines => return Some(machines::row(report.machines.get(at)?, now)),
        };
        let has_process = matches!(self.view, View::Now | View::Windows);
        machines::mark(&mut row, index, has_process, now);
        Some(row)
    }

    /// Returns what else the filter finds a row by.
    pub(crate) fn sought(&self, row: &Key) -> String {
        sought(self.index, row)
    }

    pub(crate) fn columns(&self) -> &'static [Column] {
        columns(self.view)
    }

    /// Returns what the rows of this view are ordered by: the worst come first, and problems of one
    /// kind in the order of their sentences.
    pub(crate) fn rank(&self, at: usize, row: &Row) -> ([i64; 2], Option<Box<(Code, String)>>) {
        // The place of a status or verdict, which is the first cell, among all.
        let order = |column: usize| row.cells.get(column).and_then(|cell| cell.order);
        let (standing, badness) = (order(0).unwrap_or(i64::MIN), badness(row.severity));
        let by = match self.view {
            // A person who looks at claims wants to know which of them can be released.
            View::Claims => [standing, badness],
            // What can be ended comes first, and of that what takes the most.
            View::LeftOvers => [standing, order(left_overs::MEMORY).map_or(i64::MIN, i64::saturating_neg)],
            View::Sessions => [badness, standing],
            View::Machines => [standing, 0],
            View::Now => [standing, badness],
            View::Windows | View::Problems | View::History => [badness, 0],
        };
        match self.index.report.findings.get(at).filter(|_| self.view == View::Problems) {
            Some(finding) => (by, Some(Box::new((finding.code, counting(&finding.message.brief()))))),
            None => (by, None),
        }
    }
}

/// Returns all columns of a view.
pub(crate) fn columns(view: View) -> &'static [Column] {
    match view {
        View::Now => now::COLUMNS,
        View::Windows => windows::COLUMNS,
        View::Sessions => sessions::COLUMNS,
        View::Claims => claims::COLUMNS,
        View::Problems => problems::COLUMNS,
        View::LeftOvers => left_overs::COLUMNS,
        View::History => history::COLUMNS,
        View::Machines => machines::COLUMNS,
    }
}
