//! `doctor`: the problems only, worst first, each with what helps.

use jiff::Timestamp;
use serde::Serialize;

use super::failure::{Exit, Outcome};
use super::look;
use super::output::{Paint, Shape, Tone, print};
use super::words;
use crate::core::model::code::Severity;
use crate::core::model::finding::Finding;
use crate::core::model::json;
use crate::core::model::report::{Report, SCHEMA};
use crate::core::model::snapshot::{Topic, unread};
use crate::core::model::text::shown;
use crate::observe::Observer;

/// What `doctor --json` prints.
#[derive(Serialize)]
struct Diagnosis<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    findings: &'a [Finding],
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
        return format!("{}\n", paint.paint(Tone::Doubtful, unknown));
    }
    if report.findings.is_empty() {
        return format!("{}\n", paint.paint(Tone::Good, "No problem was found."));
    }
    report.findings.iter().map(|finding| entry(finding, paint)).collect::<Vec<_>>().join("\n")
}

/// Lays one finding out: what, about what, what helps.
pub(crate) fn entry(finding: &Finding, paint: Paint) -> String {
    let (severity, tone) = words::severity(finding.severity);
    let keys: Vec<&str> = finding.subjects().iter().map(|key| key.as_str()).collect();
    let mut out =
        format!("{} {}\n", paint.paint(tone, severity), paint.paint(Tone::Heading, finding.code.name()));
    out.push_str(&format!("  {}\n", shown(&finding.message().to_string())));
    out.push_str(&paint.paint(Tone::Dim, &format!("  about {}", keys.join(" "))));
    out.push('\n');
    if let Some(remedy) = words::remedy(finding.remedy) {
        out.push_str(&format!("  remedy: {remedy}\n"));
    }
    out
}
