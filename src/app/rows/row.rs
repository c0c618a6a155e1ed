//! A table without any width or colour: columns, rows, cells.

use jiff::Timestamp;

use crate::core::model::report::finding::Finding;
use crate::core::model::report::finding::code::Severity;
use crate::core::model::report::key::Key;
use crate::present::text;
use crate::present::text::age;
use crate::present::text::tone::{Line, Span, Tone, of_severity};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: &'static [Column],
    /// The rows, in the order in which they are shown. There can be thousands: the cells of those
    /// that are on the screen are made for themselves.
    pub(crate) rows: Vec<Entry>,
    /// How wide the widest cell of each column is.
    pub(crate) widths: Vec<usize>,
    /// How many of the rows, from the first, stand above whatever a person sorts by.
    pub(crate) pinned: usize,
    /// How many rows there are without the filter.
    pub(crate) unfiltered: usize,
}

/// One row without its cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    /// The worst finding about it.
    pub(crate) severity: Option<Severity>,
    /// Which one of its source it is.
    pub(crate) at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// The name in the first line.
    pub(crate) title: &'static str,
    /// The narrowest and the widest that is of use.
    pub(crate) width: (u16, u16),
    /// Columns of a high rank leave first when the screen is narrow.
    pub(crate) rank: u8,
    /// On which side the text stands.
    pub(crate) align: Align,
    /// When it gets its full width.
    pub(crate) turn: Turn,
}

/// When a column gets its full width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Before any column of a higher rank.
    Own,
    /// After all others: whole sentences.
    Last,
}

/// On which side of a column the text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers and ages.
    Right,
}

/// Names a column of text.
pub(super) const fn column(title: &'static str, narrowest: u16, widest: u16, rank: u8) -> Column {
    Column { title, width: (narrowest, widest), rank, align: Align::Left, turn: Turn::Own }
}

/// Names a column of numbers.
pub(super) const fn number(title: &'static str, narrowest: u16, widest: u16, rank: u8) -> Column {
    Column { title, width: (narrowest, widest), rank, align: Align::Right, turn: Turn::Own }
}

/// Names a column of sentences.
pub(super) const fn sentence(title: &'static str, narrowest: u16, widest: u16, rank: u8) -> Column {
    Column { title, width: (narrowest, widest), rank, align: Align::Left, turn: Turn::Last }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) key: Key,
    /// One cell for each column.
    pub(crate) cells: Vec<Cell>,
    /// What is shown above the columns instead of cells.
    pub(crate) line: Option<Banner>,
    /// The worst finding about it.
    pub(crate) severity: Option<Severity>,
    /// What else the filter finds it by.
    pub(crate) also: String,
}

/// A line across all columns. Where there is no room for all of it, keys after the first are left out,
/// then what is wrong is cut, and never what helps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Banner {
    /// A sign, and who.
    pub(crate) who: Line,
    /// What is wrong.
    pub(crate) what: Line,
    /// The same in fewer words, for where there is no room for all of them.
    pub(crate) brief: Option<Line>,
    /// What helps.
    pub(crate) way: Line,
    /// The first step of that, for where there is no room for all of them.
    pub(crate) brief_way: Option<Line>,
    /// The keys that help, the best first.
    pub(crate) keys: Vec<Line>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    pub(crate) span: Span,
    /// What it is sorted by, before its text.
    pub(crate) order: Option<i64>,
    /// The moment whose age is shown.
    pub(crate) since: Option<Timestamp>,
}

impl Cell {
    /// Makes a cell of trusted or outside text.
    pub(super) fn text(text: &str, tone: Tone) -> Self {
        Self { span: Span::new(text, tone), ..Self::default() }
    }

    /// Makes a cell that is sorted by a number.
    pub(super) fn ranked(span: Span, order: i64) -> Self {
        Self { span, order: Some(order), since: None }
    }

    /// Makes a cell of an age.
    pub(super) fn age(now: Timestamp, since: Option<Timestamp>) -> Self {
        let Some(at) = since else { return Self::default() };
        let seconds = age::seconds(now, at);
        Self { span: Span::new(&age::label(seconds), Tone::Dim), order: Some(seconds), since }
    }

    /// Makes a cell of a PID.
    pub(super) fn pid(pid: Option<u32>) -> Self {
        let Some(pid) = pid else { return Self::default() };
        Self::ranked(Span::new(&pid.to_string(), Tone::Plain), i64::from(pid))
    }

    /// Makes a cell of the worst finding and how many more there are.
    pub(super) fn trouble(findings: &[&Finding]) -> Self {
        let Some(worst) = worst(findings) else {
            return Self::ranked(Span::default(), i64::MAX);
        };
        let (mark, tone, _) = of_severity(worst.severity);
        let name = worst.code.name().replace('-', " ");
        let text = match findings.len() {
            0 | 1 => name,
            more => format!("{name} +{}", more - 1),
        };
        Self::ranked(Span::marked(mark, &text, tone), badness(Some(worst.severity)))
    }
}

/// Returns the worst of some findings; among equals the first.
pub(crate) fn worst<'a>(findings: &[&'a Finding]) -> Option<&'a Finding> {
    findings.iter().copied().min_by_key(|finding| badness(Some(finding.severity)))
}

/// Returns a number that is smaller the worse it is.
pub(super) fn badness(severity: Option<Severity>) -> i64 {
    match severity {
        Some(Severity::Collision) => 0,
        Some(Severity::Warning) => 1,
        Some(Severity::Info) => 2,
        None => 3,
    }
}

/// Returns the beginning of an ID that distinguishes it from others: of a UUID its first part.
pub(super) fn short(id: &str) -> String {
    match id.split_once('-') {
        Some((first, _)) if first.len() == 8 && id.len() == 36 => first.to_owned(),
        Some(_) | None => text::cut(id, 12).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_where_they_can_still_be_told_apart() {
        assert_eq!(short("95fe798d-3725-4649-974a-0dec79220193"), "95fe798d");
        assert_eq!(short("session_108fff06_win15073_15071"), "session_108…");
        assert_eq!(short("win-cc-39623"), "win-cc-39623");
    }
}
