//! One table for each view.

use std::sync::Arc;

use crate::cli::output::columns::{Cell, Columns};
use crate::core::model::report::left_over::Certainty;
use crate::core::model::text::shown;
use crate::core::model::{ClaimView, Finding, LeftOver, Report, WindowView};
use crate::present::left_over;
use crate::present::machine;
use crate::present::machine::Unheard;
use crate::present::report_index::{left_by, window_and_pid, workplace};
use crate::present::text::age;
use crate::present::text::megabytes;
use crate::present::text::page::Medium;
use crate::present::text::tone::{Tone, of_claim, of_severity, of_verdict};
use crate::present::words;

/// A table, or what to say where there is nothing to put into one.
pub(crate) type Laid = Result<Columns, Nothing>;

/// What to say of an empty table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nothing {
    /// Where everything was read.
    pub(crate) known: &'static str,
    /// Where something could not be read.
    pub(crate) unknown: &'static str,
}

fn laid(columns: Columns, nothing: Nothing) -> Laid {
    if columns.is_empty() { Err(nothing) } else { Ok(columns) }
}

pub(crate) fn windows(report: &Report) -> Laid {
    let mut columns = Columns::new(&[
        "NAME", "PID", "AGENT", "STATE", "UP", "CONTEXT", "RECORDS", "CLAIMS", "WHERE", "KEY",
    ]);
    let unheard = Unheard::from_report(report);
    for window in &report.windows {
        let context = &window.context_id;
        columns.row([
            Cell::new(shown(&window.title())),
            Cell::new(window.pid),
            Cell::new(&window.agent),
            state(window, &unheard),
            Cell::maybe(window.started_at.map(|at| age::label_between(report.taken_at, at))),
            Cell::new(&context.value).toned(if context.stable { Tone::Plain } else { Tone::Notice }),
            Cell::new(window.records.len()),
            Cell::new(window.claims.len()),
            Cell::maybe(Some(workplace(window)).filter(|place| !place.is_empty())),
            Cell::new(&window.key).toned(Tone::Dim),
        ]);
    }
    let nothing = Nothing {
        known: "No agent is running here.",
        unknown: "It is not known whether an agent is running here.",
    };
    laid(columns, nothing)
}

/// Says what goes on in a window.
fn state(window: &WindowView, unheard: &Unheard<'_>) -> Cell {
    let (_, tone, word) = unheard.standing(window);
    Cell::new(word).toned(tone)
}

/// Lists the session records.
pub(crate) fn sessions(report: &Report) -> Laid {
    let mut columns =
        Columns::new(&["KEY", "FORMAT", "KIND", "HOLDER", "VERDICT", "WRITTEN", "SESSION", "TITLE", "PATH"]);
    for record in &report.records {
        let (_, tone, verdict) = of_verdict(record.verdict.state);
        let session = record.session_id.as_ref().or(record.context_id.as_ref());
        columns.row([
            Cell::new(&record.key),
            Cell::new(record.format.name()),
            Cell::new(record.variant),
            Cell::maybe(record.pid()),
            Cell::new(format!("{verdict} ({})", record.verdict.reason.name())).toned(tone),
            Cell::new(age::label_between(report.taken_at, record.written_at)),
            Cell::maybe(session),
            Cell::new(&record.title),
            Cell::new(&record.location).toned(Tone::Dim),
        ]);
    }
    let nothing = Nothing {
        known: "No session record was found.",
        unknown: "It is not known whether there are session records.",
    };
    laid(columns, nothing)
}

pub(crate) fn claims(report: &Report) -> Laid {
    let mut columns =
        Columns::new(&["KEY", "STATUS", "KIND", "RESOURCE", "HOLDER", "SINCE", "RELEASABLE", "RECORD"]);
    for claim in &report.claims {
        let (_, tone, status) = of_claim(claim.status);
        columns.row([
            Cell::new(&claim.key),
            Cell::new(status).toned(tone),
            Cell::new(claim.resource.kind.name()),
            Cell::new(words::holds(claim)),
            Cell::maybe(holder(claim, report)),
            Cell::maybe(claim.since.map(|since| age::label_between(report.taken_at, since))),
            Cell::new(words::releasable(claim.releasable, Medium::Text)),
            Cell::new(&claim.record.key),
        ]);
    }
    let nothing =
        Nothing { known: "Nothing is claimed.", unknown: "It is not known whether anything is claimed." };
    laid(columns, nothing)
}

/// Returns who holds a claim: the window, else what the record says.
fn holder(claim: &ClaimView, report: &Report) -> Option<String> {
    let window = report.windows.iter().find(|window| Some(&window.key) == claim.window.as_ref());
    Some(window.map(window_and_pid).or_else(|| left_by(report, claim)).unwrap_or_else(|| claim.holder()))
}

/// Lists findings, in the order in which they are given.
pub(crate) fn problems(findings: &[Arc<Finding>]) -> Laid {
    let mut columns = Columns::new(&["SEVERITY", "CODE", "MESSAGE", "ABOUT", "REMEDY"]);
    for finding in findings {
        let (_, tone, severity) = of_severity(finding.severity);
        columns.row([
            Cell::new(severity).toned(tone),
            Cell::new(finding.code.name()),
            Cell::new(crate::core::model::text::shown(&machine::problem(finding))),
            Cell::maybe(finding.subjects.first()),
            Cell::maybe(words::remedy(finding.remedy)),
        ]);
    }
    let nothing =
        Nothing { known: "No problem was found.", unknown: "It is not known whether there is a problem." };
    laid(columns, nothing)
}

/// Lists what windows have left running, what can be ended first.
pub(crate) fn left_overs(report: &Report) -> Laid {
    let mut columns =
        Columns::new(&["KEY", "SURE", "PID", "RUNS", "LEFT BY", "ENDED", "MEMORY", "PORTS", "BELOW", "WHY"]);
    let mut all: Vec<&LeftOver> = report.left_overs.iter().collect();
    all.sort_by_key(|one| one.certainty);
    for one in all {
        let (_, tone, word) = left_over::sign(one.certainty);
        columns.row([
            Cell::new(&one.key),
            Cell::new(word).toned(tone),
            Cell::new(one.pid),
            Cell::new(left_over::what(one)),
            Cell::new(left_over::whose(one)),
            Cell::maybe(one.window_ended_at.map(|at| age::label_between(report.taken_at, at))),
            Cell::maybe(one.memory().map(megabytes)),
            Cell::maybe(left_over::ports(one)),
            Cell::maybe(Some(one.descendants().len()).filter(|below| *below > 0)),
            Cell::maybe(one.refused.as_ref().or(Some(&one.why)).filter(|why| !why.is_empty())),
        ]);
    }
    for one in &report.left_stashes {
        let (_, tone, word) = left_over::sign(Certainty::Strong);
        columns.row([
            Cell::new(&one.key),
            Cell::new(word).toned(tone),
            Cell::default(),
            Cell::new(left_over::stash(one)),
            Cell::new(&one.window_name),
            Cell::default(),
            Cell::default(),
            Cell::default(),
            Cell::default(),
            Cell::new(one.apply()),
        ]);
    }
    let nothing = Nothing {
        known: "No window has left anything running.",
        unknown: "It is not known whether a window has left anything behind.",
    };
    laid(columns, nothing)
}
