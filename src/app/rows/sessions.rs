//! The rows of the sessions view.

use jiff::Timestamp;

use super::machines;
use super::row::{Cell, Column, Row, column, number, sentence, short, worst};
use crate::core::model::{Generation, RecordView, VerdictState};
use crate::present::report_index::{Index, place_of, window_name};
use crate::present::text::outside;
use crate::present::text::tone::{Span, Tone, of_verdict};
use crate::present::words;

pub(crate) const COLUMNS: &[Column] = &[
    column("Verdict", 9, 9, 0),
    sentence("Session of", 12, 40, 1),
    column("Format", 6, 13, 2),
    column("Why", 9, 16, 4),
    column("Problem", 14, 30, 3),
    number("PID", 5, 8, 5),
    number("Seen", 6, 6, 7),
    column("Stale", 5, 5, 8),
    column("ID", 8, 12, 9),
    column("Window", 8, 18, 6),
    column("Form", 7, 24, 10),
    column("Kind", 6, 10, 11),
    sentence("Path", 20, 60, 12),
    machines::COLUMN,
];

pub(crate) fn row(index: &Index, record: &RecordView, now: Timestamp) -> Row {
    let findings = index.findings_near(&record.key);
    let window = record.window.as_ref().and_then(|key| index.window(key));
    let cells = vec![
        verdict(record),
        Cell::text(&outside(Some(&record.title)), Tone::Strong),
        Cell::text(record.format.name(), Tone::Plain),
        Cell::text(&record.verdict.reason.name().replace('-', " "), Tone::Dim),
        Cell::trouble(&findings),
        Cell::pid(record.pid()),
        Cell::age(now, record.heartbeat_at.or(Some(record.written_at))),
        stale(record),
        Cell::text(&short(&outside(record.session_id.as_ref())), Tone::Dim),
        Cell::text(&window.map(window_name).unwrap_or_default(), Tone::Plain),
        form(record),
        Cell::text(words::record_kind(record.kind), Tone::Dim),
        Cell::text(&place_of(record), Tone::Dim),
    ];
    Row {
        key: record.key.clone(),
        cells,
        severity: worst(&findings).map(|finding| finding.severity),
        line: None,
        also: String::new(),
    }
}

fn verdict(record: &RecordView) -> Cell {
    if record.has_ended {
        return Cell::ranked(Span::marked(crate::present::text::tone::Mark::Quiet, "ended", Tone::Dim), 3);
    }
    let (mark, tone, word) = of_verdict(record.verdict.state);
    let order = match record.verdict.state {
        VerdictState::Dead => 0,
        VerdictState::Unknown => 1,
        VerdictState::Alive => 2,
    };
    Cell::ranked(Span::marked(mark, word, tone), order)
}

fn stale(record: &RecordView) -> Cell {
    if record.is_stale { Cell::text("stale", Tone::Warning) } else { Cell::default() }
}

fn form(record: &RecordView) -> Cell {
    let tone = match record.generation {
        Generation::Current => Tone::Dim,
        Generation::Legacy => Tone::Notice,
    };
    Cell::text(record.variant, tone)
}
