//! The detail pane: the evidence of the selected thing, live.

use ratatui::layout::Rect;

use super::paint::{Painter, columns};
use crate::app::geometry::Detail;
use crate::app::state::State;
use crate::present::text::count;
use crate::present::tone::{Line, Tone};

/// Divides the body into the table and the pane, and draws the pane. Returns the table's part.
pub(super) fn draw(painter: &mut Painter<'_>, body: Rect, state: &State) -> Rect {
    let Some(page) = &state.detail else { return body };
    let (table, inner) = match state.size.detail(state.table.rows.len()) {
        Detail::None => return body,
        Detail::Right(width) => right(painter, body, width),
        Detail::Below(height) => below(painter, body, height),
    };
    let lines = usize::from(inner.height);
    let is_whole = page.lines.len() <= lines && page.folded() == 0;
    let shown = if is_whole { lines } else { page.lines.len().min(lines.saturating_sub(1)) };
    for (y, line) in (inner.y..inner.bottom()).zip(page.lines.iter().take(shown)) {
        painter.line(inner.x, y, inner.width, line);
    }
    let more = page.lines.len().saturating_sub(shown);
    if !is_whole && inner.height > 0 {
        let facts = (page.folded() > 0).then(|| count(page.folded(), "fact"));
        let lines = (more > 0).then(|| count(more, "more line"));
        let more: Vec<String> = lines.into_iter().chain(facts).collect();
        let text = Line::new(&format!("{}: ", more.join(", ")), Tone::Dim).then("Enter", Tone::Key);
        painter.line(inner.x, inner.y + columns(shown), inner.width, &text);
    }
    table
}

fn right(painter: &mut Painter<'_>, body: Rect, width: u16) -> (Rect, Rect) {
    let width = width.min(body.width);
    let table = Rect { width: body.width - width, ..body };
    let x = table.right();
    for y in body.top()..body.bottom() {
        painter.text(x, y, 1, "│", painter.look.palette.rule);
    }
    (table, Rect { x: x + 2, width: width.saturating_sub(3), ..body })
}

fn below(painter: &mut Painter<'_>, body: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(body.height);
    let table = Rect { height: body.height - height, ..body };
    painter.rule(Rect { y: table.bottom(), height: 1, ..body }, "Evidence");
    let inner = Rect {
        x: body.x + 1,
        y: table.bottom() + 1,
        width: body.width.saturating_sub(columns(2)),
        height: height.saturating_sub(1),
    };
    (table, inner)
}
