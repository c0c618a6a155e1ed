//! The living window that a plan would take something from, and how to identify it.

use jiff::Timestamp;

use crate::core::model::{ClaimView, Key, RecordView, Report, VerdictState, WindowView};

/// Returns the window that has the subject of a plan, or in which the session lives now.
pub(crate) fn window<'a>(
    report: &'a Report,
    record: &RecordView,
    claim: Option<&ClaimView>,
) -> Option<&'a WindowView> {
    let key = record.window.as_ref().or_else(|| claim?.window.as_ref());
    let pid = record.window_pid.or(record.lives_in);
    report.windows.iter().find(|window| Some(&window.key) == key || Some(window.pid) == pid)
}

/// Returns the claims to release for a window. Those stated by a transcript alone are included only if there are no
/// others, so that the plan explains why they stay.
pub(crate) fn claims_of(report: &Report, window: &WindowView) -> Vec<Key> {
    let its = || report.claims.iter().filter(|claim| window.claims.contains(&claim.key));
    let is_alone = its().all(ClaimView::is_of_transcript);
    let claims = its().filter(|claim| is_alone || !claim.is_of_transcript());
    claims.map(|claim| claim.key.clone()).collect()
}

/// Returns what must be typed to take something from its living holder: different for each holder of one thing.
pub(crate) fn full_name(
    report: &Report,
    record: &RecordView,
    window: Option<&WindowView>,
    name: String,
) -> String {
    if let Some(session) = record.runs_elsewhere() {
        return format!("{}/{name}", session.label);
    }
    if let (VerdictState::Alive, Some(witness)) = (record.verdict.state, record.witness()) {
        let who = record.pid().map_or_else(|| "session".to_owned(), |pid| format!("PID {pid}"));
        return format!("{who}@{}/{name}", witness.source);
    }
    match (record.verdict.state, window, record.pid()) {
        (VerdictState::Dead | VerdictState::Unknown, _, _) => name,
        (VerdictState::Alive, Some(window), _) => format!("{}/{name}", label(report, window)),
        (VerdictState::Alive, None, Some(pid)) => format!("PID {pid}/{name}"),
        (VerdictState::Alive, None, None) => name,
    }
}

/// Returns what must be typed to take a claim from its holder.
pub fn full_name_of(report: &Report, claim: &ClaimView) -> String {
    let window = window(report, &claim.record, Some(claim));
    full_name(report, &claim.record, window, claim.resource.id.shown())
}

/// How many characters of a window's name a person may be asked to type.
const TYPED_AT_MOST: usize = 40;

/// Returns a window's name, with its PID if another one has the same name; only the PID if the name is not practical
/// to type.
fn label(report: &Report, window: &WindowView) -> String {
    let title = window.title();
    if title.chars().count() > TYPED_AT_MOST {
        return format!("PID {}", window.pid);
    }
    match report.windows.iter().filter(|other| other.title() == title).count() {
        0 | 1 => title,
        _ => format!("{title} {}", window.pid),
    }
}

/// Describes which window it is, where it works and what it does.
pub(crate) fn held_by(window: &WindowView) -> String {
    let place = window.cwd.as_ref().map_or_else(String::new, |cwd| format!(" in {}", cwd.shown()));
    let since = |at: Timestamp| format!(" since {}", at.strftime("%Y-%m-%d %H:%M:%S UTC"));
    let doing = window.doing.map_or_else(
        || ", and it is not known what it is doing".to_owned(),
        |doing| format!(": {}{}", doing.word(), window.doing_since.map(since).unwrap_or_default()),
    );
    format!("{} (PID {}){place}{doing}", window.title(), window.pid)
}
