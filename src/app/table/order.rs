//! The order of rows: worst first, or by one column.

use crate::app::rows::row::Row;

/// How the rows of a view are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sort {
    /// The column, or `None` for worst first.
    pub(crate) by: Option<usize>,
    pub(crate) direction: Direction,
}

/// Which way rows are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    /// As the column is read: smallest or worst first.
    #[default]
    Forward,
    /// The other way round.
    Backward,
}

impl Sort {
    /// Returns the next order of the cycle: worst first, then each column.
    pub(crate) fn next(self, columns: usize) -> Self {
        let by = match self.by {
            None => Some(0),
            Some(column) => Some(column + 1),
        };
        Self { by: by.filter(|column| *column < columns), direction: Direction::Forward }
    }

    /// Returns the same order the other way round.
    pub(crate) fn reversed(self) -> Self {
        let direction = match self.direction {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        };
        Self { direction, ..self }
    }

    /// Returns what a row is ordered by; nothing where the worst come first.
    pub(crate) fn rank(self, row: &Row) -> Option<Box<(bool, i64, String)>> {
        self.by.map(|column| Box::new(key(row, column)))
    }
}

/// Returns text that is ordered as a person does it: numbers in it as they count. Before each stands
/// how many digits it has.
pub(crate) fn counting(text: &str) -> String {
    let mut key = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = number.split_at(digits);
        key.push_str(before);
        key.extend(char::from_digit(u32::try_from(digits.min(35)).unwrap_or(35), 36));
        key.push_str(number);
        rest = after;
    }
    key + rest
}

fn key(row: &Row, column: usize) -> (bool, i64, String) {
    let Some(cell) = row.cells.get(column) else { return (true, 0, String::new()) };
    let text = cell.span.text().to_lowercase();
    (cell.order.is_none() && text.is_empty(), cell.order.unwrap_or(0), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_as_they_count() {
        let mut names = ["dead-10", "dead-2 of 3", "dead", "dead-2 of 12", "3 windows", "a"];
        names.sort_by_key(|name| counting(name));
        assert_eq!(names, ["3 windows", "a", "dead", "dead-2 of 3", "dead-2 of 12", "dead-10"]);
    }
}
