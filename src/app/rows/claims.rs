//! The rows of the claims view.

use jiff::Timestamp;

use super::machines;
use super::row::{Cell, Column, Row, column, number, sentence, worst};
use crate::core::model::{ClaimView, Releasable};
use crate::present::report_index::{Index, left_by, window_and_pid};
use crate::present::text::tone::{Span, Tone, of_claim};
use crate::present::text::{outside, safe};
use crate::present::words;

pub(crate) const COLUMNS: &[Column] = &[
    column("Status", 11, 11, 0),
    sentence("Holds", 14, 60, 1),
    column("Kind", 6, 10, 4),
    column("Holder", 10, 26, 2),
    number("Since", 6, 6, 5),
    column("Release", 9, 14, 3),
    column("Written in", 10, 24, 6),
    column("Problem", 14, 30, 7),
    column("Format", 6, 13, 8),
    machines::COLUMN,
];

pub(crate) fn row(index: &Index, claim: &ClaimView, now: Timestamp) -> Row {
    let findings = index.findings_near(&claim.key);
    let (mark, tone, word) = of_claim(claim.status);
    let cells = vec![
        Cell::ranked(Span::marked(mark, word, tone), words::claim_order(claim.status)),
        Cell::text(&words::holds(claim), Tone::Strong),
        Cell::text(claim.resource.kind.name(), Tone::Plain),
        holder(index, claim),
        Cell::age(now, claim.since),
        release(claim.releasable),
        surfaces(claim),
        Cell::trouble(&findings),
        Cell::text(claim.record.format.name(), Tone::Dim),
    ];
    let also = format!("{} {}", outside(Some(&claim.resource.id)), outside(Some(&claim.record.title)));
    let severity = worst(&findings).map(|finding| finding.severity);
    Row { key: claim.key.clone(), cells, line: None, severity, also }
}

/// Names the window that holds it, or the dead one with its folder.
fn holder(index: &Index, claim: &ClaimView) -> Cell {
    if let Some(window) = claim.window.as_ref().and_then(|key| index.window(key)) {
        return Cell::text(&window_and_pid(window), Tone::Plain);
    }
    Cell::text(&left_by(&index.report, claim).unwrap_or_else(|| safe(&claim.holder())), Tone::Dim)
}

fn release(releasable: Releasable) -> Cell {
    match releasable {
        Releasable::Yes => Cell::text("r, then y", Tone::Key),
        Releasable::Confirm => Cell::text("r, then type", Tone::Dim),
        Releasable::No => Cell::text("no", Tone::Dim),
    }
}

fn surfaces(claim: &ClaimView) -> Cell {
    let (text, tone) = words::surfaces(&claim.surfaces);
    Cell::text(&text, tone)
}
