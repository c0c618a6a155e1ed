//! A plain table for people: columns as wide as their widest cell, by what a terminal shows.

use crate::cli::output::Paint;
use crate::present::text::tone::Tone;
use crate::present::text::{cut, width};

/// Between two columns.
const GAP: &str = "  ";

/// One cell; its text is already safe to show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Makes a cell. What has a `Display` of our own is safe to show.
    pub(crate) fn new(text: impl ToString) -> Self {
        Self { text: text.to_string(), tone: Tone::Plain }
    }

    /// Makes a cell of what may be absent.
    pub(crate) fn maybe(text: Option<impl ToString>) -> Self {
        text.map_or_else(|| Self::new("-").toned(Tone::Dim), Self::new)
    }

    /// Gives the cell a meaning.
    pub(crate) fn toned(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

/// Rows under headings.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    headings: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Columns {
    /// Starts a table.
    pub(crate) fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; it has as many cells as there are headings.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Leaves out the columns that say nothing in any row.
    pub(crate) fn without_empty(mut self) -> Self {
        let says = |cell: &Cell| !matches!(cell.text.as_str(), "" | "-" | "0");
        let kept: Vec<bool> = (0..self.headings.len())
            .map(|at| self.rows.iter().any(|row| row.get(at).is_some_and(says)))
            .collect();
        let mut is_kept = kept.iter().copied();
        self.headings.retain(|_| is_kept.next().unwrap_or(true));
        for row in &mut self.rows {
            let mut is_kept = kept.iter().copied();
            row.retain(|_| is_kept.next().unwrap_or(true));
        }
        self
    }

    /// Lays the table out. With `width` it is made to fit: the widest columns give way first, and what is left over is cut in
    /// the last one.
    pub(crate) fn laid_out(&self, paint: Paint, width: Option<usize>) -> String {
        let widths = fitted(self.widths(), width);
        let headings: Vec<Cell> =
            self.headings.iter().map(|heading| Cell::new(heading).toned(Tone::Dim)).collect();
        let has_headings = self.headings.iter().any(|heading| !heading.is_empty());
        let lines = has_headings.then_some(&headings).into_iter().chain(&self.rows);
        lines.map(|cells| line(cells, &widths, paint, width)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let column = |at: usize, heading: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cell.text));
            cells.max().unwrap_or_default().max(width(heading))
        };
        self.headings.iter().enumerate().map(|(at, heading)| column(at, heading)).collect()
    }
}

/// Takes from the widest columns, down to what is still readable, until all fit.
fn fitted(mut widths: Vec<usize>, limit: Option<usize>) -> Vec<usize> {
    const LEAST: usize = 14;
    let gaps = widths.len().saturating_sub(1) * GAP.len();
    let limit = limit.unwrap_or(usize::MAX).saturating_sub(gaps);
    while widths.iter().sum::<usize>() > limit
        && let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > LEAST)
    {
        *widest -= 1;
    }
    widths
}

fn line(cells: &[Cell], widths: &[usize], paint: Paint, limit: Option<usize>) -> String {
    let mut out = String::new();
    let mut used = 0;
    for (at, (cell, column)) in cells.iter().zip(widths).enumerate() {
        let is_last = at + 1 == cells.len();
        let room = limit.map_or(usize::MAX, |limit| limit.saturating_sub(used));
        let text = cut(&cell.text, if is_last { room } else { room.min(*column) });
        out.push_str(&paint.paint(cell.tone, &text));
        if !is_last {
            out.push_str(&" ".repeat(column.saturating_sub(width(&text))));
            out.push_str(GAP);
        }
        used += column + GAP.len();
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Columns {
        let mut columns = Columns::new(&["KEY", "NAME"]);
        columns.row([Cell::new("w-1"), Cell::new("日本 and more")]);
        columns.row([Cell::new("w-234567"), Cell::maybe(None::<&str>).toned(Tone::Bad)]);
        columns
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        assert_eq!(
            table().laid_out(Paint::Plain, None),
            "KEY       NAME\nw-1       日本 and more\nw-234567  -\n"
        );
    }

    #[test]
    fn columns_that_say_nothing_in_any_row_are_left_out() {
        let mut columns = Columns::new(&["KEY", "RECORDS", "CLAIMS", "WHERE", "NAME"]);
        columns.row([Cell::new("w-1"), Cell::new(0), Cell::new(0), Cell::default(), Cell::new("shop")]);
        columns.row([
            Cell::new("w-2"),
            Cell::new(0),
            Cell::new(3),
            Cell::maybe(None::<&str>),
            Cell::new("site"),
        ]);
        let text = columns.without_empty().laid_out(Paint::Plain, None);
        assert_eq!(text, "KEY  CLAIMS  NAME\nw-1  0       shop\nw-2  3       site\n");
    }

    #[test]
    fn a_line_is_cut_to_the_terminal() {
        assert_eq!(
            table().laid_out(Paint::Plain, Some(16)),
            "KEY       NAME\nw-1       日本…\nw-234567  -\n"
        );
        for width in 0..30 {
            let text = table().laid_out(Paint::Plain, Some(width));
            assert!(
                text.lines().all(|line| crate::present::text::width(line) <= width.max(1) + GAP.len()),
                "{width}: {text}"
            );
        }
    }

    #[test]
    fn the_widest_columns_give_way_so_that_each_tells_something() {
        assert_eq!(fitted(vec![10, 60, 40, 8], None), [10, 60, 40, 8]);
        assert_eq!(fitted(vec![10, 60, 40, 8], Some(80)), [10, 28, 28, 8]);
        assert_eq!(fitted(vec![10, 60, 40, 8], Some(20)), [10, 14, 14, 8]);
    }

    #[test]
    fn colours_change_no_width() {
        let colored = table().laid_out(Paint::Colored, None);
        assert!(colored.contains("\u{1b}[1;31m-\u{1b}[0m"));
        assert!(colored.starts_with("\u{1b}[2mKEY\u{1b}[0m       "));
    }
}
