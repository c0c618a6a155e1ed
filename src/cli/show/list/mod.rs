//! `ls`: one look, as tables for people or as the whole snapshot in JSON.

mod tables;

use serde_json::Value;

use crate::cli::args::View;
use crate::cli::look;
use crate::cli::output::failure::Outcome;
use crate::cli::output::{Paint, Shape, print, terminal_width};
use crate::core::model::snapshot;
use crate::core::model::text::json;
use crate::core::model::text::shown;
use crate::core::model::{ClaimStatus, RecordKind, Report, Severity, SourceHealth, Topic};
use crate::observe::ReportSource;
use crate::present::need::doing::Prompts;
use crate::present::need::unfinished_actions;
use crate::present::summary::{Number, deaths};
use crate::present::text::count;
use crate::present::text::tone::{Tone, of_claim, of_severity};

/// Looks once and prints it; JSON is the whole snapshot, whatever the view.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(
    reports: &mut dyn ReportSource,
    view: Option<View>,
    shape: Shape,
    prompts: Prompts,
) -> Outcome {
    let report = reports.next_report();
    if shape != Shape::Json || prompts == Prompts::Hidden {
        return show(&report, view, shape);
    }
    let mut value = serde_json::to_value(&*report)?;
    let windows = value.get_mut("windows").and_then(Value::as_array_mut);
    for (shown, window) in windows.into_iter().flatten().zip(&report.windows) {
        let prompt = window.work.as_ref().and_then(|work| work.doing.prompt.as_ref());
        if let Some(work) = shown.get_mut("work").and_then(Value::as_object_mut) {
            work.insert("prompt".to_owned(), serde_json::to_value(prompt)?);
            let agents = work.get_mut("agents").and_then(Value::as_array_mut);
            let known = window.work.iter().flat_map(|work| &work.agents);
            for (shown, agent) in agents.into_iter().flatten().zip(known) {
                if let Some(shown) = shown.as_object_mut() {
                    shown.insert("task".to_owned(), serde_json::to_value(&agent.task)?);
                }
            }
        }
    }
    print(&format!("{}\n", json::to_string_pretty(&value)?))?;
    Ok(look::exit(&report))
}

/// Prints a report; JSON is the whole snapshot, whatever the view.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn show(report: &Report, view: Option<View>, shape: Shape) -> Outcome {
    match shape {
        Shape::Text(paint) => print(&text(report, view, paint, terminal_width()))?,
        Shape::Json => print(&format!("{}\n", json::to_string_pretty(report)?))?,
    }
    Ok(look::exit(report))
}

/// Lays a view out; without one the windows, then what there is besides.
pub(crate) fn text(report: &Report, view: Option<View>, paint: Paint, width: Option<usize>) -> String {
    let table = match view {
        None | Some(View::Windows) => tables::windows(report),
        Some(View::Sessions) => tables::sessions(report),
        Some(View::Claims) => tables::claims(report),
        Some(View::Problems) => tables::problems(report.problems()),
        Some(View::Leftovers) => tables::left_overs(report),
    };
    let is_all_read = unread(report, view.or(Some(View::Windows))).is_empty() && report.not_asked.is_empty();
    let body = match table {
        Ok(columns) => columns.without_empty().laid_out(paint, width),
        Err(nothing) if is_all_read => format!("{}\n", paint.paint(Tone::Dim, nothing.known)),
        Err(nothing) => format!("{}\n", paint.paint(Tone::Warning, nothing.unknown)),
    };
    let body = match view {
        None => format!("{body}\n{}", summary(report, paint)),
        Some(View::Windows | View::Sessions | View::Claims | View::Problems | View::Leftovers) => body,
    };
    body + &unfinished(report, paint) + &unread_sources(report, &unread(report, view), paint)
}

/// Says which sources could not be read, and which were not asked.
pub(crate) fn unread_sources(report: &Report, unread: &[&SourceHealth], paint: Paint) -> String {
    let not_asked = look::not_asked_line(report, paint);
    let gap = if not_asked.is_empty() { "" } else { "\n" };
    missing(unread, paint) + gap + &not_asked
}

/// Describes the actions of claimtop's own that did not end, with the command that finishes each.
pub(crate) fn unfinished(report: &Report, paint: Paint) -> String {
    let line = |(_, says): (_, String)| format!("{}\n", paint.paint(Tone::Warning, &shown(&says)));
    let lines: String = unfinished_actions(report).map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Returns the sources of a view that were not read completely; without one, those of all views.
pub(crate) fn unread(report: &Report, view: Option<View>) -> Vec<&SourceHealth> {
    let topic = match view {
        None | Some(View::Problems | View::Leftovers) => Topic::All,
        Some(View::Windows) => Topic::Windows,
        Some(View::Sessions | View::Claims) => Topic::Records,
    };
    snapshot::unread(&report.sources, topic).collect()
}

/// Says which sources could not be read, and why.
fn missing(sources: &[&SourceHealth], paint: Paint) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let line = |source: &&SourceHealth| format!("  {}: {}\n", shown(&source.id), source.detail);
    let lines: String = sources.iter().map(line).collect();
    format!("\n{}\n{lines}", paint.paint(Tone::Warning, "Not everything could be read:"))
}

/// Counts what the other views hold, worst first, and names the views.
fn summary(report: &Report, paint: Paint) -> String {
    let claims = ALL_STATUSES.iter().filter_map(|status| {
        let number = report.claims.iter().filter(|claim| claim.status == *status).count();
        let (_, tone, word) = of_claim(*status);
        (number > 0).then(|| paint.paint(tone, &format!("{number} {word}")))
    });
    let deaths = deaths(report);
    let of = |severity| report.problems().iter().filter(|finding| finding.severity == severity).count();
    let (_, dead, _) = of_claim(ClaimStatus::Dead);
    let problems = [Severity::Collision, Severity::Warning, Severity::Info].into_iter().map(|severity| {
        let number = of(severity) - if severity == Severity::Warning { deaths } else { 0 };
        let (_, tone, word) = of_severity(severity);
        let word = if severity == Severity::Info { format!("{number} {word}") } else { count(number, word) };
        (number, tone, word)
    });
    // Their claims are counted as dead ones.
    let died = (deaths, dead, count(deaths, "death"));
    let problems = problems.chain([died]).filter(|(number, ..)| *number > 0);
    let problems = problems.map(|(_, tone, word)| paint.paint(tone, &word));
    let sessions = report.records().filter(|record| record.kind == RecordKind::Session).count();
    let others = report.records.len() - sessions;
    let others = if others > 0 { format!(" and {}", count(others, "other record")) } else { String::new() };
    let records =
        Number::new(sessions, &report.sources, Topic::Records).with_noun("session record") + &others;
    let line = |name: &str, seen: usize, topic: Topic, parts: Vec<String>| {
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        format!("{}{parts}\n", Number::new(seen, &report.sources, topic).with_noun(name))
    };
    [
        format!("{records}\n"),
        line("claim", report.claims.len(), Topic::Records, claims.collect()),
        line("problem", report.problems().len(), Topic::All, problems.collect()),
    ]
    .concat()
}

/// Every status, worst first.
const ALL_STATUSES: [ClaimStatus; 7] = [
    ClaimStatus::Contested,
    ClaimStatus::Dead,
    ClaimStatus::Ghost,
    ClaimStatus::Expired,
    ClaimStatus::Unproven,
    ClaimStatus::Quiet,
    ClaimStatus::Held,
];
