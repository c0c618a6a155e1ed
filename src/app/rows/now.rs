//! The rows of the first view: what needs a person, and below it what each window is doing.

use jiff::Timestamp;

use super::collisions::{Collisions, Telling};
use super::row::{Banner, Cell, Column, Row, column, number, sentence, worst};
use super::{machines, windows};
use crate::app::state::activity::Activity;
use crate::core::model::report::finding::code::Severity;
use crate::core::model::report::key::Key;
use crate::core::model::report::need::{Need, NeedKind};
use crate::core::model::report::window::{WindowDoing, WindowView};
use crate::core::model::snapshot::work::{ContextFill, Work};
use crate::present::need::doing;
use crate::present::need::doing::Prompts;
use crate::present::need::{calm, line, stuck};
use crate::present::report_index::{Index, window_name};
use crate::present::text::tone::{Line, Mark, Span, Tone};
use crate::present::text::{count, outside};

pub(crate) const COLUMNS: &[Column] = &[
    column("State", 11, 11, 0),
    sentence("Window", 12, 24, 1),
    number("For", 6, 6, 3),
    sentence("Doing", 20, 140, 2),
    number("Files", 5, 5, 4),
    number("Context", 7, 7, 5),
    column("In the way", 10, 40, 6),
    column("Branch", 8, 22, 7),
    column("Filled", 10, 10, 8),
    column("10 minutes", 10, 10, 9),
    number("CPU", 4, 5, 10),
    number("Memory", 6, 7, 11),
    machines::COLUMN,
];

/// From so much on a context is marked, in percent.
const NEARLY_FULL: u64 = 85;

/// Makes the row of something that needs a person: its sign, who, what, and the keys that help.
pub(crate) fn need(index: &Index, need: &Need, now: Timestamp) -> Row {
    let parts = line(&index.report, need, now);
    let sign = Line::default().then_marked(parts.mark, " ", parts.tone);
    let is_death = index.death(&need.key).is_some() || need.left().is_some();
    let seen = (is_death || need.is_done()).then_some(("a", "seen"));
    let key = |(key, does): &(&str, &str)| Line::new(key, Tone::Key).then(&format!(" {does}"), Tone::Dim);
    let way = |way: &str| Line::new(&format!(": {way}"), Tone::Key);
    let banner = Banner {
        who: if parts.who.is_empty() { sign } else { sign.then(&format!("{} ", parts.who), Tone::Strong) },
        what: Line::new(&parts.what, Tone::Plain),
        brief: parts.brief.as_ref().map(|brief| Line::new(brief, Tone::Plain)),
        way: if parts.way.is_empty() { Line::default() } else { way(&parts.way) },
        brief_way: parts.brief_way.as_deref().map(way),
        keys: parts.keys.iter().chain(&seen).map(key).collect(),
    };
    let severity = match need.kind {
        NeedKind::Collision { .. } | NeedKind::Alike { .. } => Some(Severity::Collision),
        NeedKind::Done { .. } => None,
        NeedKind::Waits { .. }
        | NeedKind::Failed { .. }
        | NeedKind::Stuck { .. }
        | NeedKind::Unfinished { .. }
        | NeedKind::Died(_)
        | NeedKind::MoreDied { .. } => Some(Severity::Warning),
    };
    let also = format!("{} {} {}", parts.who, parts.what, parts.way);
    let since = need.since.filter(|_| {
        matches!(
            need.kind,
            NeedKind::Waits { .. }
                | NeedKind::Failed { .. }
                | NeedKind::Stuck { .. }
                | NeedKind::Done { .. }
                | NeedKind::Died(_)
        )
    });
    Row {
        key: need.key.clone(),
        // No cell is shown, but the age in the line is reported anew as it passes.
        cells: vec![Cell { since, ..Cell::default() }; COLUMNS.len() - 1],
        line: Some(banner),
        severity,
        also,
    }
}

/// Makes the line below what needs a person: what is not shown of it, or that there is nothing.
pub(crate) fn note<'a>(index: &Index, hidden: impl Iterator<Item = &'a Key>) -> Row {
    let banner = match more(&index.needs, hidden) {
        None => {
            let (mark, tone, says) = calm(&index.report, index.summary.working);
            Banner { who: Line::default().then_marked(mark, &format!(" {says}"), tone), ..Banner::default() }
        }
        Some(more) => {
            let line = Line::new("   and ", Tone::Dim).then(&more, Tone::Plain);
            Banner { who: line.then(": ", Tone::Dim).then("n", Tone::Key), ..Banner::default() }
        }
    };
    Row {
        key: Key::typed("note"),
        cells: Vec::new(),
        line: Some(banner),
        severity: None,
        also: String::new(),
    }
}

/// Counts what is not shown by its kind: `5 more collisions, 2 dead windows`.
fn more<'a>(needs: &[Need], hidden: impl Iterator<Item = &'a Key>) -> Option<String> {
    let kinds = [
        "waiting window", "window with an error", "stuck window", "unfinished action", "collision",
        "dead window", "done window",
    ];
    let mut counts = [0; 7];
    for need in hidden.filter_map(|key| needs.iter().find(|need| need.key == *key)) {
        let [waits, failed, stuck, unfinished, collisions, died, done] = &mut counts;
        match &need.kind {
            NeedKind::Waits { .. } => *waits += 1,
            NeedKind::Failed { .. } => *failed += 1,
            NeedKind::Stuck { .. } => *stuck += 1,
            NeedKind::Unfinished { .. } => *unfinished += 1,
            NeedKind::Collision { .. } => *collisions += 1,
            NeedKind::Alike { needs, .. } => *collisions += needs.len(),
            NeedKind::Died(_) => *died += 1,
            NeedKind::MoreDied { windows, .. } => *died += windows,
            NeedKind::Done { .. } => *done += 1,
        }
    }
    let counted = kinds.iter().zip(counts).filter(|(_, number)| *number > 0);
    let words: Vec<String> = counted
        .enumerate()
        .map(|(at, (kind, number))| {
            count(number, &if at == 0 { format!("more {kind}") } else { (*kind).to_owned() })
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Makes the row of a window.
pub(crate) fn window(
    (collisions, activity): (&Collisions<'_>, &Activity),
    window: &WindowView,
    now: Timestamp,
) -> Row {
    let index = collisions.index;
    let (mark, tone, word) = index.standing(window);
    let work = window.work.as_deref();
    let doing = match (&window.stuck, work) {
        (Some(stuck), _) => stuck::describe(stuck).sentence(),
        (None, Some(work)) => doing::of_work(window, work, Prompts::Shown),
        (None, None) => doing::unseen(window),
    };
    let branch = window.repo.as_ref().and_then(|repo| repo.branch.as_ref());
    let cells = vec![
        Cell::ranked(Span::marked(mark, word, tone), order(index, window)),
        Cell::text(&window_name(window), Tone::Strong),
        Cell::age(now, since(window)),
        Cell::text(&doing, Tone::Plain),
        files(work),
        context(work.and_then(|work| work.doing.context)),
        collisions.in_the_way(window, Telling::Name).unwrap_or_else(nothing),
        Cell::text(&outside(branch), Tone::Dim),
        bar(work.and_then(|work| work.doing.context)),
        Cell::text(&activity.line(&window.key), Tone::Dim),
        windows::cpu(window.cpu_percent),
        windows::memory(window.memory_bytes),
    ];
    let severity = worst(&index.problems_near(&window.key)).map(|finding| finding.severity);
    // The filter finds it by its number, its folder and its files as well.
    let files = work.into_iter().flat_map(|work| &work.doing.edits).map(|edit| outside(Some(&edit.path)));
    let also = [window.pid.to_string(), outside(window.cwd.as_ref())].into_iter().chain(files);
    let also = also.collect::<Vec<_>>().join(" ");
    Row { key: window.key.clone(), cells, line: None, severity, also }
}

/// Orders windows by who needs a person first: what asks, what is done and was not looked at, what works, the rest.
fn order(index: &Index, window: &WindowView) -> i64 {
    let is_unseen = |need: &Need| need.is_done() && need.subject == window.key;
    match window.doing {
        Some(WindowDoing::Asks | WindowDoing::Stuck) => 0,
        Some(WindowDoing::YourTurn) if index.needs.iter().any(is_unseen) => 1,
        Some(WindowDoing::Working | WindowDoing::Quiet) => 2,
        Some(WindowDoing::YourTurn | WindowDoing::Stopped) | None => 3,
    }
}

fn nothing() -> Cell {
    Cell::ranked(Span::default(), i64::MAX)
}

/// Returns since when a window does what it does, where that is known: its own age says nothing of it.
fn since(window: &WindowView) -> Option<Timestamp> {
    let doing = window.work.as_ref().map(|work| &work.doing);
    let call = doing.and_then(|doing| doing.calls.last()?.since);
    let is_working = window.doing == Some(WindowDoing::Working);
    call.filter(|_| is_working).or(window.doing_since).or_else(|| doing?.turn.since)
}

fn files(work: Option<&Work>) -> Cell {
    let number = work.map_or(0, |work| work.doing.edits.len());
    if number == 0 {
        return Cell::ranked(Span::default(), 0);
    }
    Cell::ranked(Span::new(&number.to_string(), Tone::Plain), i64::try_from(number).unwrap_or(i64::MAX))
}

/// Draws how much of a context is filled, with a mark where it is nearly full.
fn bar(fill: Option<ContextFill>) -> Cell {
    let Some(percent) = fill.and_then(ContextFill::percent) else { return Cell::default() };
    let part = |at: u64| match at {
        _ if percent >= 10 * at + 5 => '█',
        8 => '┆',
        _ => '░',
    };
    let tone = if percent >= NEARLY_FULL { Tone::Warning } else { Tone::Dim };
    let bar: String = (0..10).map(part).collect();
    Cell::ranked(Span::new(&bar, tone), i64::try_from(percent).unwrap_or(i64::MAX))
}

fn context(fill: Option<ContextFill>) -> Cell {
    let Some(fill) = fill else { return Cell::default() };
    let says = doing::fill(fill);
    let span = match fill.percent().is_some_and(|percent| percent >= NEARLY_FULL) {
        true => Span::marked(Mark::Warning, &says, Tone::Warning),
        false => Span::new(&says, Tone::Dim),
    };
    Cell::ranked(span, i64::try_from(fill.tokens).unwrap_or(i64::MAX))
}
