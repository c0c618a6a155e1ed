//! What is new in a few words for other devices: the names of windows and our own words, nothing that a window wrote.

use crate::core::model::{Finding, Need, NeedKind, Report, WindowView};

/// Says what a problem is, and whose.
pub(super) fn of_finding(report: &Report, finding: &Finding) -> String {
    let is_of = |window: &&WindowView| {
        let keys = || window.records.iter().chain(&window.claims).chain([&window.key]);
        finding.subjects.iter().any(|subject| keys().any(|key| key == subject))
    };
    let mut titles: Vec<String> = report.windows.iter().filter(is_of).map(|window| window.title()).collect();
    if titles.is_empty() {
        let records = report.records().filter(|record| finding.subjects.contains(&record.key));
        titles.extend(records.map(|record| record.title.shown()));
    }
    titles.dedup();
    let what = finding.code.name().replace('-', " ");
    if titles.is_empty() { what } else { format!("{}: {what}", titles.join(", ")) }
}

/// Says what a window wants.
pub(super) fn of_need(report: &Report, need: &Need) -> String {
    let what = match &need.kind {
        NeedKind::Waits { .. } => "asks you",
        NeedKind::Failed { .. } => "failed",
        NeedKind::Stuck { .. } => "stuck",
        NeedKind::Done { .. } => "your turn",
        NeedKind::Unfinished { .. }
        | NeedKind::Collision { .. }
        | NeedKind::Alike { .. }
        | NeedKind::Died(_)
        | NeedKind::MoreDied { .. } => "needs you",
    };
    match report.window(&need.subject) {
        Some(window) => format!("{}: {what}", window.title()),
        None => what.to_owned(),
    }
}
