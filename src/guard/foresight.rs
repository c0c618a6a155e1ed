//! What the merge of a window's working tree with another one's will not do, as an open claimtop has foreseen it.

use std::path::Path;

use crate::core::guard::decide::{Life, Other};
use crate::core::guard::git::reach::Takes;
use crate::core::model::{Forecast, Outcome};
use crate::guard::query::Query;
use crate::present;
use crate::source::own::forecasts;
use crate::source::own::ledger::{About, Tree};

/// The most conflicts that a model is informed of at once.
const MOST: usize = 2;

impl Query<'_> {
    /// Returns the conflicts in which this working tree comes second: it is the one that can still make way.
    pub(super) fn conflicts(&self, tree: &Tree) -> Vec<Forecast> {
        let Some(top) = tree.text() else { return Vec::new() };
        let is_second = |forecast: &Forecast| {
            let second = forecast.sides.get(1 - forecast.first());
            let is_it = second.and_then(|side| side.tree.as_ref()).is_some_and(|tree| tree.raw() == top);
            is_it && forecast.is_between_trees() && forecast.outcome == Outcome::Conflicts
        };
        let book = forecasts::current_book(&self.scope.state).unwrap_or_default();
        book.forecasts.into_iter().filter(is_second).take(MOST).collect()
    }

    /// Describes a conflict, with the window that lives in the other working tree, where its ledger names one.
    pub(super) fn describe_conflict(&self, forecast: &Forecast) -> String {
        let other = forecast.sides.get(forecast.first()).and_then(|side| side.tree.as_ref());
        let tree = other.and_then(|tree| Tree::find(Path::new(tree.raw())));
        let found = tree.map(|tree| self.read(&tree, &About::Matching(&|_| true, Takes::WORK)).others);
        let window: Option<Other> = found.into_iter().flatten().find(|other| other.life == Life::Alive);
        present::guard::conflict(forecast, window.as_ref())
    }
}
