//! The last two lines: what is wrong with the selected thing, and the keys.

use ratatui::layout::Rect;

use crate::app::filter::Focus;
use crate::app::keymap::{Binding, helps, useful};
use crate::app::state::State;
use crate::app::summary::{remedies_here, summary};
use crate::app::text::count;
use crate::app::tone::{Line, Tone};

use super::paint::{Painter, columns};

/// Draws the sentence about the selected thing, with its key at the end and never cut.
pub(super) fn draw_summary(painter: &mut Painter<'_>, area: Rect, state: &State) {
    painter.wash(area, painter.look.palette.bar);
    let summary = summary(state);
    let hint = columns(summary.hint.width());
    let room = area.width.saturating_sub(2).saturating_sub(if hint == 0 { 0 } else { hint + 3 });
    let used = painter.line(area.x + 1, area.y, room, &summary.what);
    if hint > 0 && used > 0 {
        let x = area.x + 1 + used;
        painter.line(x, area.y, 3, &Line::new(" · ", Tone::Dim));
        painter.line(x + 3, area.y, hint, &summary.hint);
    } else if hint > 0 {
        painter.line(area.x + 1, area.y, hint, &summary.hint);
    }
}

/// Draws the keys that help most now, or the filter while it is typed.
pub(super) fn draw_keys(painter: &mut Painter<'_>, area: Rect, state: &State) {
    let room = usize::from(area.width.saturating_sub(2));
    let line = if state.filter.focus == Focus::Text && state.layers.is_empty() {
        filter_line(state, "▌", "Enter keeps it, Esc clears it, a leading ! turns it round")
    } else if state.takes_text() {
        let keys = [("Enter", "confirms"), ("Esc", "back"), ("arrows", "scroll")];
        Line(keys.iter().flat_map(|(keys, short)| part(keys, short, Tone::Dim).0).collect())
    } else {
        keys(state, room)
    };
    painter.line(area.x + 1, area.y, area.width.saturating_sub(2), &line);
}

fn filter_line(state: &State, cursor: &str, hint: &str) -> Line {
    let kept = format!("{} of {}", state.table.rows.len(), count(state.table.unfiltered, "row"));
    Line::new("/", Tone::Key)
        .then(&state.filter.text, Tone::Strong)
        .then(cursor, Tone::Accent)
        .then(&format!("  {kept}"), Tone::Plain)
        .then(&format!("  {hint}"), Tone::Dim)
}

/// Names keys and what they do.
fn part(keys: &str, short: &str, tone: Tone) -> Line {
    Line::new(keys, Tone::Key).then(&format!(" {short}  "), tone)
}

/// Joins keys until the line is full; help and quit always have their place.
fn keys(state: &State, room: usize) -> Line {
    let remedies = remedies_here(state);
    let mut line = Line::default();
    if !state.filter.text.is_empty() && state.layers.is_empty() {
        line = filter_line(state, "", "").then(" ", Tone::Dim);
    }
    let (last, first): (Vec<&Binding>, Vec<&Binding>) =
        useful(state).into_iter().partition(|binding| matches!(binding.keys, "?" | "q"));
    let tail: usize = last.iter().map(|binding| part(binding.keys, binding.short, Tone::Dim).width()).sum();
    for binding in first {
        let is_remedy = remedies.iter().any(|remedy| helps(*remedy, binding.command));
        let tone = if is_remedy { Tone::Strong } else { Tone::Dim };
        let next = part(binding.keys, binding.short, tone);
        if line.width() + next.width() + tail <= room + 2 {
            line.0.extend(next.0);
        }
    }
    line.0.extend(last.iter().flat_map(|binding| part(binding.keys, binding.short, Tone::Dim).0));
    line
}
