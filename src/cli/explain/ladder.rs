//! Lays the evidence out: what it is, each fact with its source, the rule, the findings.

use jiff::Timestamp;

use super::find::describe;
use crate::cli::columns::{Cell, Columns};
use crate::cli::output::{Paint, Tone};
use crate::cli::{doctor, story, words};
use crate::core::model::claim::ClaimView;
use crate::core::model::evidence::Evidence;
use crate::core::model::finding::Finding;
use crate::core::model::judged::{HolderView, RecordView};
use crate::core::model::report::Report;
use crate::core::model::verdict::Verdict;
use crate::core::model::window::WindowView;
use crate::core::plan::find::Subject;

/// A fact and what it says.
type Line = (&'static str, Cell);

/// Lays out everything that is known of one thing.
pub(crate) fn text(report: &Report, subject: Subject<'_>, findings: &[&Finding], paint: Paint) -> String {
    let mut out = format!("{}\n", paint.paint(Tone::Heading, &describe(report, subject)));
    match subject {
        Subject::Window(window) => out.push_str(&of_window(report, window, paint)),
        Subject::Record(record) => out.push_str(&of_record(report, record, paint)),
        Subject::Claim(claim) => out.push_str(&of_claim(report, claim, paint)),
        Subject::Broken(_) => {}
    }
    out.push_str(&of_findings(findings, paint));
    out
}

fn of_window(report: &Report, window: &WindowView, paint: Paint) -> String {
    let (state, tone) = words::window_state(window.state);
    let context = &window.context_id;
    let stable = if context.stable { "" } else { ", not the same for the next call" };
    let started = window.started_at.map(|at| format!(", {} ago", words::age(at, report.taken_at)));
    let mut lines = vec![
        ("state", Cell::new(state).toned(tone)),
        ("started", Cell::new(format!("tick {}{}", window.start_ticks, started.unwrap_or_default()))),
        (
            "context ID",
            Cell::new(format!("{} ({}{stable})", context.value, words::context_source(context.source))),
        ),
        ("session ID", session(window)),
        ("name", Cell::maybe(window.name.as_ref())),
        ("activity", Cell::maybe(window.activity.as_ref())),
        ("terminal", Cell::maybe(window.tty.as_ref())),
        ("place", Cell::maybe(window.place.words())),
        ("works in", Cell::maybe(words::workplace(window))),
    ];
    lines.retain(|(_, cell)| !cell.is_absent());
    let mut out = facts(lines, paint);
    if let Some(session) = &window.session {
        let facts = std::slice::from_ref(&session.evidence);
        out.push_str(&section("Session", &evidence(report, facts), paint));
    }
    let records = report.records().filter(|record| window.records.contains(&record.key));
    out.push_str(&keyed(report, "Records", records.map(Subject::Record), paint));
    out.push_str(&claims(report, |claim| window.claims.contains(&claim.key), paint));
    out
}

fn session(window: &WindowView) -> Cell {
    match &window.session {
        Some(session) => Cell::new(format!("{} ({})", session.id, session.strength.words())),
        None => Cell::new("unknown: nothing says which session it runs"),
    }
}

fn of_record(report: &Report, record: &RecordView, paint: Paint) -> String {
    let window = report.windows.iter().find(|window| Some(&window.key) == record.window.as_ref());
    let mut lines = vec![
        ("form", Cell::new(record.variant)),
        ("session ID", Cell::maybe(record.session_id.as_ref())),
        ("context ID", Cell::maybe(record.context_id.as_ref())),
        ("holder", Cell::maybe(record.holder_view().map(holder))),
        ("window", Cell::maybe(window.map(words::window_name))),
        ("written", Cell::new(format!("{} ago", words::age(record.written_at, report.taken_at)))),
        ("stale", stale(record, report.taken_at)),
    ];
    lines.extend(record.facts.iter().map(|(fact, value)| (*fact, Cell::new(value))));
    lines.retain(|(_, cell)| !cell.is_absent());
    let mut out = facts(lines, paint);
    out.push_str(&verdict(report, &record.verdict, paint));
    out.push_str(&claims(report, |claim| claim.record.key == record.key, paint));
    out
}

fn of_claim(report: &Report, claim: &ClaimView, paint: Paint) -> String {
    let (status, tone) = words::status(claim.status);
    let mut lines = vec![
        ("status", Cell::new(status).toned(tone)),
        ("holder", Cell::maybe(words::holder(claim, report))),
        ("since", Cell::maybe(claim.since().map(|at| format!("{} ago", words::age(at, report.taken_at))))),
        ("releasable", Cell::new(words::releasable(claim.releasable))),
    ];
    lines.retain(|(_, cell)| !cell.is_absent());
    let mut out = facts(lines, paint);
    let mut surfaces = Columns::new(&["SURFACE", "SAYS"]);
    for surface in claim.surfaces() {
        surfaces.row([Cell::new(surface.name), Cell::new(words::surface(surface.state))]);
    }
    out.push_str(&section("Surfaces", &surfaces, paint));
    out.push_str(&keyed(report, "Record", std::iter::once(Subject::Record(&claim.record)), paint));
    out.push_str(&verdict(report, &claim.record.verdict, paint));
    out
}

fn holder(holder: HolderView<'_>) -> String {
    let pid = holder.pid.map_or_else(|| "no usable PID".to_owned(), |pid| format!("PID {pid}"));
    let start = holder.start_ticks.map_or_else(String::new, |ticks| format!(", start tick {ticks}"));
    let host = holder.host.map_or_else(String::new, |host| format!(", host {host}"));
    format!("{pid} ({}){start}{host}", words::role(holder.role))
}

fn stale(record: &RecordView, now: Timestamp) -> Cell {
    let stale = record.stale(now);
    match stale.is {
        true => Cell::new(format!("yes: {}", stale.rule)).toned(Tone::Doubtful),
        false => Cell::new(format!("no ({})", stale.rule)),
    }
}

/// The ladder itself: each fact in the order in which it was weighed, then the rule.
fn verdict(report: &Report, verdict: &Verdict, paint: Paint) -> String {
    let (state, tone) = words::verdict(verdict.state);
    let mut out = section("Evidence", &evidence(report, &verdict.evidence), paint);
    out.push_str(&format!(
        "  => {} by the rule {}: {}\n",
        paint.paint(tone, state),
        verdict.reason.name(),
        words::rule(verdict.reason)
    ));
    out
}

fn evidence(report: &Report, evidence: &[Evidence]) -> Columns {
    let mut columns = Columns::new(&["FACT", "SAYS", "AGE", "READ IN"]);
    for fact in evidence.iter().map(Evidence::fact) {
        columns.row([
            Cell::new(&fact.fact),
            Cell::new(&fact.value),
            Cell::maybe(fact.at.map(|at| words::age(at, report.taken_at))),
            Cell::new(&fact.source),
        ]);
    }
    columns
}

fn of_findings(findings: &[&Finding], paint: Paint) -> String {
    if findings.is_empty() {
        return format!("\n{}\n", paint.paint(Tone::Good, "No problem is known of it."));
    }
    let entry = |finding: &&Finding| {
        let story = finding.story().as_ref().map_or_else(String::new, |told| story::text(told, paint));
        indented(&(doctor::entry(finding, paint) + &story))
    };
    let entries: String = findings.iter().map(entry).collect();
    format!("\n{}\n{entries}", paint.paint(Tone::Heading, "Problems"))
}

fn claims(report: &Report, is_meant: impl Fn(&ClaimView) -> bool, paint: Paint) -> String {
    keyed(report, "Claims", report.claims.iter().filter(|claim| is_meant(claim)).map(Subject::Claim), paint)
}

fn keyed<'a>(
    report: &Report,
    title: &str,
    subjects: impl Iterator<Item = Subject<'a>>,
    paint: Paint,
) -> String {
    let mut columns = Columns::new(&[""]);
    for subject in subjects {
        columns.row([Cell::new(describe(report, subject))]);
    }
    section(title, &columns, paint)
}

fn facts(lines: Vec<Line>, paint: Paint) -> String {
    let mut columns = Columns::new(&["", ""]);
    for (fact, cell) in lines {
        columns.row([Cell::new(fact).toned(Tone::Dim), cell]);
    }
    indented(&columns.laid_out(paint, None))
}

fn section(title: &str, columns: &Columns, paint: Paint) -> String {
    if columns.is_empty() {
        return String::new();
    }
    format!("\n{}\n{}", paint.paint(Tone::Heading, title), indented(&columns.laid_out(paint, None)))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
