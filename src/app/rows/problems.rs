//! The rows of the problems view.

use std::collections::BTreeMap;

use crate::app::lookup::Index;
use crate::app::tone::{Span, Tone, of_severity};
use crate::app::words;
use crate::core::finding::Finding;
use crate::core::key::Key;
use crate::core::report::Report;

use super::{Cell, Column, Row, badness, column, sentence};

pub(super) const COLUMNS: &[Column] = &[
    column("Severity", 11, 11, 0),
    column("Problem", 12, 22, 2),
    sentence("What is wrong", 24, 140, 1),
    column("Helps", 9, 10, 3),
    column("About", 10, 40, 4),
];

/// Names every finding for as long as it is about the same things: findings have no key of
/// their own, and their words may hold an age.
pub fn keyed(report: &Report) -> impl Iterator<Item = (Key, &Finding)> {
    let mut seen: BTreeMap<Key, usize> = BTreeMap::new();
    report.findings.iter().map(move |finding| {
        let mut parts = vec![finding.code.name()];
        parts.extend(finding.subjects.iter().map(Key::as_str));
        let first = Key::derive('p', &parts);
        let count = seen.entry(first.clone()).and_modify(|count| *count += 1).or_insert(0);
        let key = if *count == 0 { first } else { Key::typed(&format!("{first}-{count}")) };
        (key, finding)
    })
}

pub(super) fn rows(index: &Index<'_>) -> Vec<Row> {
    keyed(index.report).map(|(key, finding)| row(index, key, finding)).collect()
}

fn row(index: &Index<'_>, key: Key, finding: &Finding) -> Row {
    let (mark, tone, word) = of_severity(finding.severity);
    let about: Vec<String> = finding.subjects.iter().map(|key| index.name(key)).collect();
    let cells = vec![
        Cell::ranked(Span::marked(mark, word, tone), badness(Some(finding.severity))),
        Cell::text(finding.code.name(), tone),
        Cell::text(&finding.message, Tone::Plain),
        Cell::text(&words::remedy(finding.remedy), Tone::Key),
        Cell::text(&about.join(", "), Tone::Dim),
    ];
    Row { key, cells, severity: Some(finding.severity) }
}
