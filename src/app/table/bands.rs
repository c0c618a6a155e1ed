//! Which rows are on the screen: those that stand above, at most about half, and the others below.

use std::ops::Range;

/// Which rows are on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bands {
    /// Of those that stand above whatever a person sorts by.
    pub(crate) above: Range<usize>,
    /// Whether a line below them counts those that are not shown.
    pub(crate) has_note: bool,
    /// Of the others.
    pub(crate) below: Range<usize>,
}

/// A table that is to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// How many lines there are for rows.
    pub(crate) page: usize,
    /// How many rows stand above.
    pub(crate) pinned: usize,
    /// How many rows there are.
    pub(crate) rows: usize,
    /// Whether a line says that none needs to stand above.
    pub(crate) is_calm: bool,
}

impl Bands {
    /// Divides the lines so that the selected row is on the screen, and the others move as little as
    /// they can.
    pub(crate) fn new(shape: Shape, selected: usize, top: usize) -> Self {
        let Shape { page, pinned, rows, is_calm } = shape;
        let is_above = selected < pinned;
        let lines = match pinned {
            0 => usize::from(is_calm && page > 1),
            _ if rows <= page => pinned,
            _ if page < 4 && is_above => page.min(pinned),
            _ if page < 4 => 0,
            _ => pinned.min((page / 2).max(page.saturating_sub(rows - pinned))),
        };
        let has_note = lines > 0 && (pinned == 0 || (page >= 4 && lines < pinned));
        let shown = lines - usize::from(has_note);
        let first = if is_above { (selected + 1).saturating_sub(shown) } else { 0 };
        let room = page.saturating_sub(lines);
        let lowest = (selected + 1).saturating_sub(room);
        let top = if is_above { top } else { top.clamp(lowest.min(selected), selected) };
        let top = top.min(rows.saturating_sub(room)).max(pinned);
        Self { above: first..first + shown, has_note, below: top..(top + room).min(rows) }
    }

    /// Returns which row stands in a line, from the first on.
    pub(crate) fn row(&self, line: usize) -> Option<usize> {
        let above = self.above.len();
        let below = || self.below.clone().nth(line.checked_sub(above + usize::from(self.has_note))?);
        self.above.clone().nth(line).or_else(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check((page, pinned, rows): (usize, usize, usize), selected: usize, expected: &str) {
        let bands = Bands::new(Shape { page, pinned, rows, is_calm: pinned == 0 }, selected, 0);
        let note = if bands.has_note { " note" } else { "" };
        assert_eq!(format!("{:?}{note} {:?}", bands.above, bands.below), expected);
    }

    #[test]
    fn what_stands_above_takes_half_where_not_all_fits() {
        check((20, 3, 9), 0, "0..3 3..9");
        check((10, 15, 24), 0, "0..4 note 15..20");
        check((10, 15, 24), 9, "6..10 note 15..20");
        check((10, 15, 24), 23, "0..4 note 19..24");
        check((10, 15, 17), 0, "0..7 note 15..17");
        check((10, 3, 24), 0, "0..3 3..10");
        check((10, 0, 24), 0, "0..0 note 0..9");
        check((2, 5, 9), 0, "0..2 5..5");
        check((2, 5, 9), 7, "0..0 6..8");
    }

    #[test]
    fn the_selected_row_is_on_the_screen() {
        for (page, pinned, rows) in (1..9).flat_map(|page| (0..7).map(move |pinned| (page, pinned, 9))) {
            for (selected, top) in (0..rows).flat_map(|selected| (0..rows).map(move |top| (selected, top))) {
                let shape = Shape { page, pinned, rows, is_calm: pinned == 0 };
                let bands = Bands::new(shape, selected, top);
                let shown: Vec<usize> = (0..page).filter_map(|line| bands.row(line)).collect();
                assert!(shown.contains(&selected), "{shape:?} {selected} {top}: {bands:?}");
                assert_eq!(bands.row(page), None, "{shape:?} {selected} {top}: {bands:?}");
            }
        }
    }
}
