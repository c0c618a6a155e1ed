//! The rows of the history view: the journal, the newest entry first.

use jiff::Timestamp;

use crate::app::sheet::verb;
use crate::app::tone::{Mark, Span, Tone};
use crate::core::journal::{Ended, Entry, History};
use crate::core::key::Key;

use super::{Cell, Column, Row, column, number, sentence};

pub(super) const COLUMNS: &[Column] = &[
    column("Outcome", 9, 9, 0),
    number("Entry", 5, 5, 2),
    number("Age", 6, 6, 4),
    column("Action", 7, 7, 1),
    sentence("What", 20, 140, 0),
    column("Undo", 6, 8, 3),
];

pub(super) fn rows(journal: &History, now: Timestamp) -> Vec<Row> {
    journal.entries.iter().rev().map(|entry| row(entry, now)).collect()
}

fn row(entry: &Entry, now: Timestamp) -> Row {
    let number = i64::try_from(entry.number).unwrap_or(i64::MAX);
    let cells = vec![
        Cell { span: outcome(entry), ..Cell::default() },
        Cell::ranked(Span::new(&entry.number.to_string(), Tone::Plain), -number),
        Cell::age(now, Some(entry.at)),
        Cell::text(verb(entry.intent.action), Tone::Plain),
        Cell::text(&entry.intent.title, Tone::Plain),
        undo(entry),
    ];
    Row { key: Key::typed(&entry.number.to_string()), cells, severity: None }
}

/// Returns how an entry ended, with its sign.
pub(in crate::app) fn outcome(entry: &Entry) -> Span {
    match entry.outcome.as_ref().map(|outcome| outcome.ended) {
        Some(Ended::Done) => Span::marked(Mark::Alive, "done", Tone::Good),
        Some(Ended::Changed) => Span::marked(Mark::Quiet, "changed", Tone::Notice),
        Some(Ended::Failed) => Span::marked(Mark::Dead, "failed", Tone::Warning),
        Some(Ended::Stuck) => Span::marked(Mark::Dead, "stuck", Tone::Bad),
        Some(Ended::Unknown) => Span::marked(Mark::Unknown, "unknown", Tone::Notice),
        None => Span::marked(Mark::Unknown, "open", Tone::Notice),
    }
}

fn undo(entry: &Entry) -> Cell {
    match entry.undone_by {
        Some(by) => Cell::text(&format!("by {by}"), Tone::Dim),
        None if entry.can_be_undone() => Cell::text("z undo", Tone::Key),
        None if entry.pruned => Cell::text("gone", Tone::Dim),
        None => Cell::default(),
    }
}
