//! One sentence about the selected thing: what is wrong, and which key helps.

use crate::core::finding::{Finding, Remedy};
use crate::core::key::Key;
use crate::core::report::Report;

use super::lookup::Index;
use super::rows::{keyed_findings, worst};
use super::state::State;
use super::tone::{Line, Mark, Tone, of_severity};
use super::view::View;
use super::words;

/// What is said about the selected thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// What is wrong; it may be cut.
    pub what: Line,
    /// The key that helps; it is never cut.
    pub hint: Line,
}

/// Returns the findings about a thing or, for a finding's own key, that finding.
pub fn findings_about<'a>(report: &'a Report, key: &Key) -> Vec<&'a Finding> {
    let own: Vec<_> =
        keyed_findings(report).filter(|(own, _)| own == key).map(|(_, finding)| finding).collect();
    if own.is_empty() { Index::new(report).findings_near(key) } else { own }
}

/// Returns the worst finding about what is open or selected.
pub fn worst_here(state: &State) -> Option<&Finding> {
    let report = state.report.as_ref()?;
    worst(&findings_about(report, state.subject()?))
}

/// Returns what helps against the findings about what is open or selected, worst first.
pub fn remedies_here(state: &State) -> Vec<Remedy> {
    let (Some(report), Some(key)) = (&state.report, state.subject()) else { return Vec::new() };
    findings_about(report, key).iter().map(|finding| finding.remedy).collect()
}

/// Says what the person should know now.
pub fn summary(state: &State) -> Summary {
    if let Some(message) = &state.message {
        return Summary {
            what: Line::default().then_marked(Mark::Info, message, Tone::Accent),
            hint: marked(state),
        };
    }
    if state.subject().is_none() {
        return Summary::default();
    }
    match worst_here(state) {
        Some(finding) => trouble(finding, state),
        None => Summary {
            what: Line::default().then_marked(Mark::Alive, "Nothing wrong found here", Tone::Good),
            hint: marked(state),
        },
    }
}

fn trouble(finding: &Finding, state: &State) -> Summary {
    let (mark, tone, _) = of_severity(finding.severity);
    let what = Line::default()
        .then_marked(mark, finding.code.name(), tone)
        .then(": ", tone)
        .then(&finding.message, Tone::Plain);
    if !state.marks.is_empty() {
        return Summary { what, hint: marked(state) };
    }
    Summary { what, hint: hint(finding.remedy, state.layers.is_empty() && state.view != View::History) }
}

/// Names the key that helps, or the one that tells more.
fn hint(remedy: Remedy, may_open: bool) -> Line {
    match words::remedy_key(remedy) {
        Some((key, verb)) => Line::new(key, Tone::Key).then(&format!(" shows how to {verb}"), Tone::Dim),
        None if may_open => Line::new("Enter", Tone::Key).then(" shows why", Tone::Dim),
        None => Line::default(),
    }
}

/// Says how many things are marked.
fn marked(state: &State) -> Line {
    match state.marks.len() {
        0 => Line::default(),
        count => Line::new(&format!("{count} marked"), Tone::Accent),
    }
}
