//! One sentence about the selected thing: what is wrong, and which key helps.

use crate::app::layer::Layer;
use crate::app::rows::row::worst;
use crate::app::state::State;
use crate::app::table::view::View;
use crate::core::model::report::finding::{Finding, Remedy};
use crate::present::machine;
use crate::present::need::{line, sentence};
use crate::present::text::tone::{Line, Mark, Tone, of_severity};
use crate::present::words;

/// What is said about the selected thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// What is wrong; it may be cut.
    pub(crate) what: Line,
    /// The key that helps; it is never cut.
    pub(crate) hint: Line,
}

/// Returns the findings about what is open or selected, worst first.
fn findings_here(state: &State) -> Vec<&Finding> {
    match (&state.index, state.subject()) {
        (Some(index), Some(key)) => index.findings_at(key),
        (None, _) | (_, None) => Vec::new(),
    }
}

/// Returns what helps against the findings about what is open or selected, worst first.
pub(crate) fn remedies_here(state: &State) -> Vec<Remedy> {
    findings_here(state).iter().map(|finding| finding.remedy).collect()
}

/// Says what the person should know now.
pub(crate) fn summary(state: &State) -> Summary {
    if let Some(message) = &state.message {
        return Summary {
            what: Line::default().then_marked(Mark::Info, message, Tone::Accent),
            hint: marked(state),
        };
    }
    // A sheet says itself what it is about; the row beneath may be another.
    if state.sheet().is_some() || state.subject().is_none() || state.view == View::History {
        return Summary::default();
    }
    if let Some(need) = need_here(state) {
        return need;
    }
    // The row says it, and the pane beside it.
    let is_in_row = matches!(state.view, View::Now | View::Problems);
    let is_told = is_in_row && state.layers.is_empty() && state.detail.is_some();
    match worst(&findings_here(state)) {
        Some(finding) if finding.is_problem() && is_told => {
            Summary { what: Line::default(), ..trouble(finding, state) }
        }
        Some(finding) if finding.is_problem() => trouble(finding, state),
        Some(_) | None => Summary { what: unheard(state).unwrap_or_else(nothing), hint: marked(state) },
    }
}

/// Says that the row's machine is silent: whether anything is wrong there is not known.
fn unheard(state: &State) -> Option<Line> {
    let machine = state.index.as_ref()?.unheard(state.subject()?)?;
    let what = machine::unheard(machine, state.told_at());
    Some(Line::default().then_marked(Mark::Unknown, &what, Tone::Warning))
}

/// Says that nothing is wrong here.
fn nothing() -> Line {
    Line::default().then_marked(Mark::Alive, "No problem found with this one", Tone::Good)
}

/// Says what the selected row needs.
fn need_here(state: &State) -> Option<Summary> {
    let index = state.index.as_ref().filter(|_| state.layers.is_empty())?;
    let need = index.need(state.selected()?)?;
    let parts = line(&index.report, need, state.told_at());
    let what =
        Line::default().then_marked(parts.mark, &sentence(&index.report, need, state.told_at()), parts.tone);
    // The row says it, and the pane beside it.
    let what = if state.detail.is_some() { Line::default() } else { what };
    let hint = parts.keys.first().map_or_else(Line::default, |(key, does)| {
        Line::new(key, Tone::Key).then(&format!(" {does}"), Tone::Dim)
    });
    Some(Summary { what, hint })
}

fn trouble(finding: &Finding, state: &State) -> Summary {
    let (mark, tone, _) = of_severity(finding.severity);
    let what = Line::default()
        .then_marked(mark, finding.code.name(), tone)
        .then(": ", tone)
        .then(&machine::problem_in_brief(finding), Tone::Plain);
    if !state.marks.is_empty() {
        return Summary { what, hint: marked(state) };
    }
    Summary { what, hint: hint(finding.remedy, state.layers.last()) }
}

/// Names the key that helps, or the one that shows more, unless that is already open.
fn hint(remedy: Remedy, open: Option<&Layer>) -> Line {
    match (open, words::remedy_key(remedy)) {
        (None | Some(Layer::Evidence { .. }), Some((key, verb))) => {
            Line::new(key, Tone::Key).then(&format!(" shows how to {verb}"), Tone::Dim)
        }
        (None, None) => Line::new("Enter", Tone::Key).then(" shows why", Tone::Dim),
        (Some(Layer::Evidence { .. }), None)
        | (
            Some(
                Layer::Sheet(_)
                | Layer::Help { .. }
                | Layer::Palette(_)
                | Layer::Columns { .. }
                | Layer::Settings { .. }
                | Layer::Diagnosis { .. }
                | Layer::Recent { .. }
                | Layer::Versions { .. }
                | Layer::Peek { .. }
                | Layer::BringBack { .. }
                | Layer::Map { .. },
            ),
            _,
        ) => Line::default(),
    }
}

/// Says how many things are marked.
fn marked(state: &State) -> Line {
    match state.marks.len() {
        0 => Line::default(),
        count => Line::new(&format!("{count} marked"), Tone::Accent),
    }
}
