//! The last two lines: what is wrong with the selected thing, and the keys.

use ratatui::layout::Rect;

use super::paint::{Painter, columns};
use crate::app::keys::command::Command;
use crate::app::keys::keymap::{Binding, helps, useful};
use crate::app::layer::Layer;
use crate::app::page::summary::{remedies_here, summary};
use crate::app::state::{Header, State};
use crate::app::table::filter::Focus;
use crate::present::text::tone::{Line, Mark, Tone};
use crate::present::text::{count, safe, wrap};

/// The most lines that an answer to a key takes.
const MOST_LINES: usize = 3;

/// Draws the sentence about the selected thing, with its key at the end and never cut, or the
/// answer to a key.
pub(super) fn draw_summary(painter: &mut Painter<'_>, area: Rect, state: &State) {
    let summary = summary(state);
    let hint = columns(summary.hint.width());
    let room = area.width.saturating_sub(2).saturating_sub(if hint == 0 { 0 } else { hint + 3 });
    let lines = match &state.message {
        Some(message) => answer_lines(message, usize::from(room)),
        None => vec![summary.what],
    };
    let mut used = 0;
    for (above, line) in (0..columns(lines.len())).rev().zip(lines) {
        let area = Rect { y: area.y.saturating_sub(above), ..area };
        painter.clear(area, painter.look.palette.bar);
        used = painter.line(area.x + 1, area.y, room, &line);
    }
    if hint > 0 && used > 0 {
        let x = area.x + 1 + used;
        painter.line(x, area.y, 3, &Line::new(" · ", Tone::Dim));
        painter.line(x + 3, area.y, hint, &summary.hint);
    } else if hint > 0 {
        painter.line(area.x + 1, area.y, hint, &summary.hint);
    }
}

/// Wraps an answer to a key: it is reported once, so it takes what it needs of the lines above.
fn answer_lines(message: &str, room: usize) -> Vec<Line> {
    let parts = wrap(&safe(message), room.saturating_sub(2));
    let (first, rest) = parts.split_at(parts.len().min(MOST_LINES - 1));
    let rest = Some(rest.join(" ")).filter(|rest| !rest.is_empty());
    let mut marked = Some(Mark::Info);
    let line = |part: String| match marked.take() {
        Some(mark) => Line::default().then_marked(mark, &part, Tone::Accent),
        None => Line::new(&format!("  {part}"), Tone::Accent),
    };
    first.iter().cloned().chain(rest).map(line).collect()
}

/// Draws the keys that help most now, or the filter while it is typed.
pub(super) fn draw_keys(painter: &mut Painter<'_>, area: Rect, state: &State) {
    let room = usize::from(area.width.saturating_sub(2));
    let line = if state.filter.focus == Focus::Text && state.layers.is_empty() {
        filter_line(state, "▌", "Enter keeps it, Esc clears it, a leading ! inverts it")
    } else if state.takes_text() {
        told_keys(&[("Enter", "confirms"), ("Esc", "back"), ("arrows", "scroll")])
    } else if matches!(state.layers.last(), Some(Layer::Palette(_))) {
        told_keys(&[("Enter", "runs it"), ("Tab", "completes"), ("arrows", "choose"), ("Esc", "back")])
    } else if state.header == Header::Numbers {
        told_keys(&[("1-9", "that column"), ("0", "worst first"), ("s", "next"), ("S", "reverse")])
    } else {
        keys(state, room).0
    };
    painter.line(area.x + 1, area.y, area.width.saturating_sub(2), &line);
}

fn told_keys(keys: &[(&str, &str)]) -> Line {
    keys.iter().fold(Line::default(), |mut line, (keys, short)| {
        add(&mut line, named(keys, short, Tone::Dim));
        line
    })
}

fn filter_line(state: &State, cursor: &str, hint: &str) -> Line {
    let kept = format!("{} of {}", state.table.rows.len(), count(state.table.unfiltered, "row"));
    Line::new("/", Tone::Key)
        .then(&state.filter.text, Tone::Strong)
        .then(cursor, Tone::Accent)
        .then(&format!("  {kept}"), Tone::Plain)
        .then(&format!("  {hint}"), Tone::Dim)
}

/// Names the keys of a binding and what they do.
fn part(binding: &Binding, tone: Tone) -> Line {
    named(binding.keys, binding.short, tone)
}

fn named(keys: &str, short: &str, tone: Tone) -> Line {
    Line::new(keys, Tone::Key).then(&format!(" {short}"), tone)
}

/// Adds a part to a line, apart from what stands before it.
fn add(line: &mut Line, part: Line) {
    let gap = if line.0.is_empty() { Vec::new() } else { Line::new("  ", Tone::Dim).0 };
    line.0.extend(gap.into_iter().chain(part.0));
}

/// Returns what the key in a column of the last line asks for.
pub(super) fn command_at(area: Rect, state: &State, x: u16) -> Option<Command> {
    let room = area.width.saturating_sub(2);
    if is_typing(state) || state.header == Header::Numbers {
        return None;
    }
    let (line, ends) = keys(state, usize::from(room));
    let x = usize::from(x.checked_sub(area.x + 1)?);
    let found = ends.into_iter().find(|(end, _)| x < *end).map(|(_, command)| command);
    found.filter(|_| x < line.width())
}

fn is_typing(state: &State) -> bool {
    (state.filter.focus == Focus::Text && state.layers.is_empty())
        || state.takes_text()
        || matches!(state.layers.last(), Some(Layer::Palette(_)))
}

/// Joins keys until the line is full; help and quit always have their place. Returns also where each
/// of them ends.
fn keys(state: &State, room: usize) -> (Line, Vec<(usize, Command)>) {
    let remedies = remedies_here(state);
    let mut line = Line::default();
    let mut ends = Vec::new();
    if !state.filter.text.is_empty() && state.layers.is_empty() {
        line = filter_line(state, "", "");
        ends.push((line.width(), Command::Filter));
    }
    let (last, first): (Vec<&Binding>, Vec<&Binding>) =
        useful(state).into_iter().partition(|binding| matches!(binding.keys, "?" | "q"));
    let tail: usize = last.iter().map(|binding| part(binding, Tone::Dim).width() + 2).sum();
    for binding in first {
        let is_remedy = remedies.iter().any(|remedy| helps(*remedy, binding.command));
        let tone = if is_remedy { Tone::Strong } else { Tone::Dim };
        let mut longer = line.clone();
        add(&mut longer, part(binding, tone));
        if longer.width() + tail <= room {
            line = longer;
            ends.push((line.width(), binding.command));
        }
    }
    for binding in last {
        add(&mut line, part(binding, Tone::Dim));
        ends.push((line.width(), binding.command));
    }
    (line, ends)
}
