//! The rows of the problems view.

use super::machines;
use super::row::{Cell, Column, Row, badness, column, sentence};
use crate::core::model::{Finding, Key};
use crate::present::need::between;
use crate::present::report_index::Index;
use crate::present::text::tone::{Span, Tone, of_severity};
use crate::present::{machine, words};

pub(crate) const COLUMNS: &[Column] = &[
    column("Severity", 11, 11, 0),
    column("Problem", 22, 22, 3),
    sentence("What is wrong", 24, 140, 1),
    column("Remedy", 20, 40, 2),
    sentence("About", 16, 40, 4),
    machines::COLUMN,
];

pub(crate) fn row(index: &Index, (key, finding): (&Key, &Finding)) -> Row {
    let (mark, tone, word) = of_severity(finding.severity);
    let about: Vec<String> = finding.subjects.iter().map(|key| index.name(key)).collect();
    let by_key = words::remedy_key(finding.remedy).map(|(key, verb)| format!("{key} {verb}"));
    let remedy = by_key.or_else(|| between::way_out(index, finding));
    let cells = vec![
        Cell::ranked(Span::marked(mark, word, tone), badness(Some(finding.severity))),
        Cell::text(finding.code.name(), tone),
        Cell::text(&machine::problem_in_brief(finding), Tone::Plain),
        Cell::text(&remedy.unwrap_or_default(), Tone::Key),
        Cell::text(&about.join(", "), Tone::Dim),
    ];
    Row { key: key.clone(), cells, severity: Some(finding.severity), line: None, also: String::new() }
}
