//! The order of rows: worst first, or by one column.

use super::rows::Row;

/// How the rows of a view are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The column, or `None` for worst first.
    pub by: Option<usize>,
    /// Which way.
    pub direction: Direction,
}

/// Which way rows are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// As the column is read: smallest or worst first.
    #[default]
    Forward,
    /// The other way round.
    Backward,
}

impl Sort {
    /// Returns the next order of the cycle: worst first, then each column.
    pub fn next(self, columns: usize) -> Self {
        let by = match self.by {
            None => Some(0),
            Some(column) => Some(column + 1),
        };
        Self { by: by.filter(|column| *column < columns), direction: Direction::Forward }
    }

    /// Returns the same order the other way round.
    pub fn reversed(self) -> Self {
        let direction = match self.direction {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        };
        Self { direction, ..self }
    }

    /// Returns what a row is ordered by; nothing where the worst come first.
    pub(super) fn rank(self, row: &Row) -> Option<(bool, i64, String)> {
        self.by.map(|column| key(row, column))
    }
}

fn key(row: &Row, column: usize) -> (bool, i64, String) {
    let Some(cell) = row.cells.get(column) else { return (true, 0, String::new()) };
    let text = cell.span.text().to_lowercase();
    (cell.order.is_none() && text.is_empty(), cell.order.unwrap_or(0), text)
}
