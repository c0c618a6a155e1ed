//! The rows of the first view: what needs a person, and below it what each window is doing.

use jiff::Timestamp;

use super::row::{Cell, Column, Row, column, number, sentence, worst};
use crate::core::model::code::Severity;
use crate::core::model::need::{Need, NeedKind};
use crate::core::model::window::WindowView;
use crate::core::model::work::{ContextFill, Work};
use crate::present::doing::{self, Prompts};
use crate::present::lookup::{Index, window_name};
use crate::present::need::said;
use crate::present::text::outside;
use crate::present::tone::{Line, Span, Tone};

pub(crate) const COLUMNS: &[Column] = &[
    column("State", 9, 9, 0),
    sentence("Window", 12, 24, 1),
    number("For", 6, 6, 3),
    sentence("Doing", 20, 140, 2),
    number("Files", 5, 5, 4),
    number("Context", 7, 7, 5),
    column("Branch", 8, 22, 6),
];

/// From so much on a context is marked, in percent.
const NEARLY_FULL: u64 = 85;

/// Makes the row of something that needs a person: its sign, who, what, and the keys that help.
pub(crate) fn need(index: &Index, need: &Need, now: Timestamp) -> Row {
    let said = said(&index.report, need, now);
    let mut line = Line::default().then_marked(said.mark, " ", said.tone);
    if !said.who.is_empty() {
        line = line.then(&format!("{} ", said.who), Tone::Strong);
    }
    let line = line.then(&said.what, Tone::Plain);
    let key = |keys: Line, (key, does): &(&str, &str)| {
        let gap = if keys.0.is_empty() { "" } else { "  " };
        keys.then(gap, Tone::Dim).then(key, Tone::Key).then(&format!(" {does}"), Tone::Dim)
    };
    let keys = said.keys.iter().fold(Line::default(), key);
    let severity = match need.kind {
        NeedKind::Collision { .. } => Some(Severity::Collision),
        NeedKind::Waits { .. } | NeedKind::Died(_) | NeedKind::MoreDied { .. } => Some(Severity::Warning),
    };
    let also = format!("{} {}", said.who, said.what);
    Row {
        key: need.key.clone(),
        cells: vec![Cell::default(); COLUMNS.len()],
        line: Some((line, keys)),
        severity,
        also,
    }
}

/// Makes the row of a window.
pub(crate) fn window(index: &Index, window: &WindowView, now: Timestamp) -> Row {
    let ((mark, tone, word), activity) = index.standing(window);
    let work = window.work.as_ref();
    let doing = work.map_or(String::new(), |work| doing::of_work(window, work, Prompts::Shown));
    let branch = window.repo.as_ref().and_then(|repo| repo.branch.as_ref());
    let cells = vec![
        Cell { span: Span::marked(mark, word, tone), ..Cell::default() },
        Cell::text(&window_name(window), Tone::Strong),
        Cell::age(now, since(window)),
        Cell::text(if doing.is_empty() { &activity } else { &doing }, Tone::Plain),
        files(work),
        context(work.and_then(|work| work.doing.context)),
        Cell::text(&outside(branch), Tone::Dim),
    ];
    let severity = worst(&index.findings_near(&window.key)).map(|finding| finding.severity);
    // The filter finds it by its number, its folder and its files as well.
    let files = work.into_iter().flat_map(|work| &work.doing.edits).map(|edit| outside(Some(&edit.path)));
    let also = [window.pid.to_string(), outside(window.cwd.as_ref())].into_iter().chain(files);
    let also = also.collect::<Vec<_>>().join(" ");
    Row { key: window.key.clone(), cells, line: None, severity, also }
}

/// Returns since when a window does what it does.
fn since(window: &WindowView) -> Option<Timestamp> {
    let doing = window.work.as_ref().map(|work| &work.doing);
    let waits = window.waiting.as_ref().and_then(|waiting| waiting.since);
    let call = doing.and_then(|doing| doing.calls.last()?.since);
    waits.or(call).or_else(|| doing?.turn.since).or(window.started_at)
}

fn files(work: Option<&Work>) -> Cell {
    let number = work.map_or(0, |work| work.doing.edits.len());
    if number == 0 {
        return Cell::ranked(Span::default(), 0);
    }
    Cell::ranked(Span::new(&number.to_string(), Tone::Plain), i64::try_from(number).unwrap_or(i64::MAX))
}

fn context(fill: Option<ContextFill>) -> Cell {
    let Some(fill) = fill else { return Cell::default() };
    let is_nearly_full = fill.percent().is_some_and(|percent| percent >= NEARLY_FULL);
    let tone = if is_nearly_full { Tone::Warning } else { Tone::Dim };
    Cell::ranked(Span::new(&doing::fill(fill), tone), i64::try_from(fill.tokens).unwrap_or(i64::MAX))
}
