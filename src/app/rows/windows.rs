//! The rows of the windows view.

use jiff::Timestamp;

use super::collisions::{Collisions, Telling};
use super::machines;
use super::row::{Cell, Column, Row, column, number, sentence, short, worst};
use crate::core::model::{ClaimStatus, ContextId, WindowDoing, WindowState, WindowView};
use crate::present::need::doing::{Prompts, of_window};
use crate::present::report_index::{Index, window_name};
use crate::present::text::tone::{Span, Tone};
use crate::present::text::{file_name, megabytes, outside};

pub(crate) const COLUMNS: &[Column] = &[
    column("State", 11, 11, 1),
    sentence("Window", 14, 24, 0),
    number("PID", 5, 8, 3),
    column("Problem", 14, 48, 2),
    number("Claims", 6, 6, 4),
    column("Doing", 8, 26, 7),
    column("Branch", 8, 22, 6),
    number("Age", 6, 6, 5),
    column("Context", 7, 14, 8),
    number("CPU", 4, 5, 9),
    number("Memory", 6, 7, 10),
    column("Worktree", 8, 18, 11),
    column("Agent", 8, 12, 12),
    column("TTY", 5, 8, 13),
    machines::COLUMN,
];

pub(crate) fn row(collisions: &Collisions<'_>, window: &WindowView, now: Timestamp) -> Row {
    let index = collisions.index;
    let findings = index.problems_near(&window.key);
    let repo = window.repo.as_ref();
    let (mark, tone, word) = index.standing(window);
    let cells = vec![
        Cell::ranked(Span::marked(mark, word, tone), order(window)),
        Cell::text(&window_name(window), Tone::Strong),
        Cell::pid(Some(window.pid)),
        collisions.in_the_way(window, Telling::NameAndWay).unwrap_or_else(|| Cell::trouble(&findings)),
        claims(index, window),
        Cell::text(&of_window(window, Prompts::Shown), Tone::Plain),
        Cell::text(&outside(repo.and_then(|repo| repo.branch.as_ref())), Tone::Plain),
        Cell::age(now, window.started_at),
        context(&window.context_id),
        cpu(window.cpu_percent),
        memory(window.memory_bytes),
        Cell::text(repo.map_or("", |repo| file_name(repo.worktree.raw())), Tone::Dim),
        Cell::text(&outside(Some(&window.agent)), Tone::Dim),
        Cell::text(&outside(window.tty.as_ref()), Tone::Dim),
    ];
    Row {
        key: window.key.clone(),
        cells,
        severity: worst(&findings).map(|finding| finding.severity),
        line: None,
        also: String::new(),
    }
}

/// Orders windows by who needs a person first.
fn order(window: &WindowView) -> i64 {
    match (window.state, window.doing) {
        (WindowState::Zombie, _) => 0,
        (_, Some(WindowDoing::Asks | WindowDoing::Stuck)) => 1,
        (_, Some(WindowDoing::YourTurn)) => 2,
        (_, Some(WindowDoing::Stopped)) | (WindowState::Stopped, _) => 3,
        (_, Some(WindowDoing::Quiet)) => 4,
        (_, None) => 5,
        (_, Some(WindowDoing::Working)) => 6,
    }
}

/// Counts a window's claims; how the worst of them stands gives the tone.
fn claims(index: &Index, window: &WindowView) -> Cell {
    let count = window.claims.len();
    if count == 0 {
        return Cell::ranked(Span::default(), 0);
    }
    let worst = window.claims.iter().filter_map(|key| index.claim(key)).map(|claim| claim.status).min();
    let tone = match worst {
        Some(ClaimStatus::Contested) => Tone::Bad,
        Some(ClaimStatus::Dead | ClaimStatus::Ghost | ClaimStatus::Expired) => Tone::Warning,
        Some(ClaimStatus::Unproven | ClaimStatus::Quiet | ClaimStatus::Held) | None => Tone::Plain,
    };
    Cell::ranked(Span::new(&count.to_string(), tone), i64::try_from(count).unwrap_or(i64::MAX))
}

/// Shows a context ID, with a question mark when the next call finds another one.
fn context(context: &ContextId) -> Cell {
    let id = short(&outside(Some(&context.value)));
    if context.stable { Cell::text(&id, Tone::Dim) } else { Cell::text(&format!("{id}?"), Tone::Notice) }
}

pub(super) fn cpu(percent: Option<f32>) -> Cell {
    let Some(percent) = percent.filter(|percent| percent.is_finite()) else { return Cell::default() };
    #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates, and this one only orders")]
    let order = (percent * 10.0) as i64;
    Cell::ranked(Span::new(&format!("{percent:.0}%"), Tone::Dim), order)
}

pub(super) fn memory(bytes: Option<u64>) -> Cell {
    let Some(bytes) = bytes else { return Cell::default() };
    Cell::ranked(Span::new(&megabytes(bytes), Tone::Dim), i64::try_from(bytes).unwrap_or(i64::MAX))
}
