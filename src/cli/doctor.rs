//! `doctor`: the problems only, worst first, each with what helps.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::failure::{Exit, Outcome};
use super::look;
use super::output::{Paint, Shape, lines, print};
use crate::core::model::json;
use crate::core::model::report::SCHEMA;
use crate::core::model::snapshot::unread;
use crate::core::model::{Finding, Report, Severity, Topic};
use crate::observe::Observer;
use crate::present::ladder::finding;
use crate::present::page::Page;
use crate::present::tone::Tone;

/// What `doctor --json` prints.
#[derive(Serialize)]
struct Diagnosis<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    findings: &'a [Arc<Finding>],
}

/// Looks once and prints what is wrong.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(observer: &mut Observer, shape: Shape) -> Outcome {
    let report = observer.observe();
    match shape {
        Shape::Text(paint) => print(&text(&report, paint))?,
        Shape::Json => print(&format!("{}\n", json::to_string_pretty(&diagnosis(&report))?))?,
    }
    Ok(exit(&report))
}

fn diagnosis(report: &Report) -> Diagnosis<'_> {
    Diagnosis { schema: SCHEMA, taken_at: report.taken_at, findings: &report.findings }
}

fn exit(report: &Report) -> Exit {
    let worst = report.findings.iter().map(|finding| finding.severity).max();
    match worst {
        None | Some(Severity::Info) => look::exit(report),
        Some(Severity::Warning | Severity::Collision) => Exit::Problems,
    }
}

fn text(report: &Report, paint: Paint) -> String {
    let is_open = unread(&report.sources, Topic::All).next().is_some();
    if report.findings.is_empty() && is_open {
        let unknown = "It is not known whether there is a problem: not everything could be read.";
        return format!("{}\n", paint.paint(Tone::Warning, unknown));
    }
    if report.findings.is_empty() {
        return format!("{}\n", paint.paint(Tone::Good, "No problem was found."));
    }
    let mut page = Page::for_text(report.taken_at);
    for finding in &report.findings {
        page.gap();
        finding::write_entry(&mut page, finding);
    }
    lines(&page, paint)
}
