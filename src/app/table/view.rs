//! The views and what a person has set in each.

use std::collections::BTreeSet;

use super::order::Sort;
use crate::core::model::Key;

/// One of the views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// What needs a person, and what each window is doing.
    #[default]
    Now,
    /// Every running agent.
    Windows,
    /// Every session record.
    Sessions,
    Claims,
    Problems,
    /// What windows have left running and lying about.
    LeftOvers,
    /// What was done.
    History,
    /// The other machines, where there are any.
    Machines,
}

impl View {
    /// Every view, in the order of the tabs.
    pub(crate) const ALL: [Self; 8] = [
        Self::Now,
        Self::Windows,
        Self::Sessions,
        Self::Claims,
        Self::Problems,
        Self::LeftOvers,
        Self::History,
        Self::Machines,
    ];

    /// Returns the digit that shows it, the same whichever others there are.
    pub(crate) fn digit(self) -> usize {
        Self::ALL.iter().position(|view| *view == self).map_or(0, |at| at + 1)
    }

    /// Returns the name on the tab.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Now => "Now",
            Self::Windows => "Windows",
            Self::Sessions => "Sessions",
            Self::Claims => "Claims",
            Self::Problems => "Problems",
            Self::LeftOvers => "Left-overs",
            Self::History => "History",
            Self::Machines => "Machines",
        }
    }

    /// Returns the name on a tab that has no room for the whole one.
    pub(crate) fn short(self) -> &'static str {
        match self {
            Self::Now => "Now",
            Self::Windows => "Win",
            Self::Sessions => "Sess",
            Self::Claims => "Claims",
            Self::Problems => "Prob",
            Self::LeftOvers => "Left",
            Self::History => "Hist",
            Self::Machines => "Mach",
        }
    }

    /// Returns the view on the right, or the first after the last.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Now => Self::Windows,
            Self::Windows => Self::Sessions,
            Self::Sessions => Self::Claims,
            Self::Claims => Self::Problems,
            Self::Problems => Self::LeftOvers,
            Self::LeftOvers => Self::History,
            Self::History => Self::Machines,
            Self::Machines => Self::Now,
        }
    }

    /// Returns the view on the left, or the last before the first.
    pub(crate) fn previous(self) -> Self {
        match self {
            Self::Now => Self::Machines,
            Self::Machines => Self::History,
            Self::Windows => Self::Now,
            Self::Sessions => Self::Windows,
            Self::Claims => Self::Sessions,
            Self::Problems => Self::Claims,
            Self::LeftOvers => Self::Problems,
            Self::History => Self::LeftOvers,
        }
    }
}

/// Where a person is within one view. The selection follows the thing, not the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewPosition {
    pub(crate) selected: Option<Key>,
    /// The row in which it was seen last, for choosing a neighbour when it vanishes.
    pub(crate) at: usize,
    /// The first row on the screen.
    pub(crate) top: usize,
    /// How the rows are ordered.
    pub(crate) sort: Sort,
    /// The columns that a person has hidden.
    pub(crate) hidden: BTreeSet<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewPositions {
    now: ViewPosition,
    windows: ViewPosition,
    sessions: ViewPosition,
    claims: ViewPosition,
    problems: ViewPosition,
    left_overs: ViewPosition,
    history: ViewPosition,
    machines: ViewPosition,
}

impl ViewPositions {
    pub(crate) fn place(&self, view: View) -> &ViewPosition {
        match view {
            View::Now => &self.now,
            View::Windows => &self.windows,
            View::Sessions => &self.sessions,
            View::Claims => &self.claims,
            View::Problems => &self.problems,
            View::LeftOvers => &self.left_overs,
            View::History => &self.history,
            View::Machines => &self.machines,
        }
    }

    /// Returns the place in a view for changing it.
    pub(crate) fn of_mut(&mut self, view: View) -> &mut ViewPosition {
        match view {
            View::Now => &mut self.now,
            View::Windows => &mut self.windows,
            View::Sessions => &mut self.sessions,
            View::Claims => &mut self.claims,
            View::Problems => &mut self.problems,
            View::LeftOvers => &mut self.left_overs,
            View::History => &mut self.history,
            View::Machines => &mut self.machines,
        }
    }
}
