//! Which window is in another's way: found once for all rows of a table.

use std::collections::HashMap;

use super::row::Cell;
use crate::core::model::{Key, Need, NeedKind, WindowView};
use crate::present::need::between;
use crate::present::report_index::{Index, window_and_machine, window_and_pid, window_name};
use crate::present::text::tone::{Mark, Span, Tone};

/// How the window that is in another's way is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// By its name.
    Name,
    /// With the way out.
    NameAndWay,
}

/// The collisions of a report, by each window that takes part.
pub(crate) struct Collisions<'a> {
    pub(super) index: &'a Index,
    of: HashMap<&'a Key, Vec<&'a Need>>,
}

impl<'a> Collisions<'a> {
    /// Finds those of every window.
    pub(crate) fn from_index(index: &'a Index) -> Self {
        let mut of: HashMap<&Key, Vec<&Need>> = HashMap::new();
        for need in &index.report.needs {
            if let NeedKind::Collision { windows, .. } = &need.kind {
                windows.iter().for_each(|window| of.entry(window).or_default().push(need));
            }
        }
        Self { index, of }
    }

    /// Names the window that is in another's way, or says what is wrong with that one alone; nothing of one that
    /// collides with none.
    pub(super) fn in_the_way(&self, window: &WindowView, detail: Telling) -> Option<Cell> {
        let (worst, others) = self.of.get(&window.key)?.split_first()?;
        let described = between::describe(&self.index.report, &|key| self.index.living(key), &worst.kind)?;
        let own = [window_name(window), window_and_machine(window), window_and_pid(window)];
        // Of those that share the worst one, one is named.
        let NeedKind::Collision { windows, .. } = &worst.kind else { return None };
        let more = match others.len() + windows.len().saturating_sub(2) {
            0 => String::new(),
            more => format!(" +{more}"),
        };
        let text = match (described.who.iter().find(|name| !own.contains(name)), detail) {
            (Some(other), Telling::Name) => format!("{other}{more}"),
            (Some(other), Telling::NameAndWay) => format!("{other}{more}: {}", described.way),
            (None, _) => format!("{}{more}", described.what),
        };
        Some(Cell::ranked(Span::marked(Mark::Collision, &text, Tone::Bad), 0))
    }
}
