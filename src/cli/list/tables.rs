//! One table for each view.

use crate::cli::columns::{Cell, Columns};
use crate::cli::output::Tone;
use crate::cli::words;
use crate::core::model::finding::Finding;
use crate::core::model::report::Report;
use crate::core::model::window::WindowView;

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

/// Lists the windows.
pub(crate) fn windows(report: &Report) -> Laid {
    let mut columns =
        Columns::new(&["KEY", "PID", "AGENT", "STATE", "UP", "CONTEXT", "RECORDS", "CLAIMS", "WHERE"]);
    for window in &report.windows {
        let context = &window.context_id;
        columns.row([
            Cell::new(&window.key),
            Cell::new(window.pid),
            Cell::new(&window.agent),
            state(window),
            Cell::maybe(window.started_at.map(|at| words::age(at, report.taken_at))),
            Cell::new(&context.value).toned(if context.stable { Tone::Plain } else { Tone::Doubtful }),
            Cell::new(window.records.len()),
            Cell::new(window.claims.len()),
            Cell::maybe(words::workplace(window)),
        ]);
    }
    let nothing = Nothing {
        known: "No agent is running here.",
        unknown: "It is not known whether an agent is running here.",
    };
    laid(columns, nothing)
}

/// Says what the agent says that it does, else what its process does.
fn state(window: &WindowView) -> Cell {
    let (word, tone) = words::window_state(window.state);
    match (&window.activity, tone) {
        (Some(activity), Tone::Good) => Cell::new(activity).toned(tone),
        (Some(_) | None, _) => Cell::new(word).toned(tone),
    }
}

/// Lists the session records.
pub(crate) fn sessions(report: &Report) -> Laid {
    let mut columns =
        Columns::new(&["KEY", "FORMAT", "KIND", "HOLDER", "VERDICT", "WRITTEN", "SESSION", "TITLE", "PATH"]);
    for record in &report.records {
        let (verdict, tone) = words::verdict(record.verdict.state);
        let session = record.session_id.as_ref().or(record.context_id.as_ref());
        columns.row([
            Cell::new(&record.key),
            Cell::new(record.format.name()),
            Cell::new(record.variant),
            Cell::maybe(record.pid()),
            Cell::new(format!("{verdict} ({})", record.verdict.reason.name())).toned(tone),
            Cell::new(words::age(record.written_at, report.taken_at)),
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

/// Lists the claims.
pub(crate) fn claims(report: &Report) -> Laid {
    let mut columns =
        Columns::new(&["KEY", "STATUS", "KIND", "HOLDER", "SINCE", "RELEASABLE", "RECORD", "RESOURCE"]);
    for claim in &report.claims {
        let (status, tone) = words::status(claim.status);
        columns.row([
            Cell::new(&claim.key),
            Cell::new(status).toned(tone),
            Cell::new(claim.resource().kind.name()),
            Cell::maybe(words::holder(claim, report)),
            Cell::maybe(claim.since().map(|since| words::age(since, report.taken_at))),
            Cell::new(words::releasable(claim.releasable)),
            Cell::new(&claim.record.key),
            Cell::new(&claim.resource().id),
        ]);
    }
    let nothing =
        Nothing { known: "Nothing is claimed.", unknown: "It is not known whether anything is claimed." };
    laid(columns, nothing)
}

/// Lists findings, in the order in which they are given.
pub(crate) fn problems(findings: &[Finding]) -> Laid {
    let mut columns = Columns::new(&["SEVERITY", "CODE", "ABOUT", "REMEDY", "MESSAGE"]);
    for finding in findings {
        let (severity, tone) = words::severity(finding.severity);
        columns.row([
            Cell::new(severity).toned(tone),
            Cell::new(finding.code.name()),
            Cell::maybe(finding.subjects().first()),
            Cell::maybe(words::remedy(finding.remedy)),
            Cell::new(crate::core::model::text::shown(&finding.message().to_string())),
        ]);
    }
    let nothing =
        Nothing { known: "No problem was found.", unknown: "It is not known whether there is a problem." };
    laid(columns, nothing)
}
