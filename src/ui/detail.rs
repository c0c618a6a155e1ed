//! The detail pane: the evidence of the selected thing, live.

use ratatui::layout::Rect;

use super::paint::{Painter, columns};
use crate::app::state::{Pane, State};
use crate::app::table::geometry::Detail;
use crate::present::text::count;
use crate::present::text::tone::{Line, Span, Tone};

/// The columns between two columns of text.
const PART_GAP: u16 = 3;

/// Divides the body into the table and the pane, and draws the pane. Returns the table's part.
pub(super) fn draw(painter: &mut Painter<'_>, body: Rect, state: &State) -> Rect {
    let (table, Some(inner)) = split(body, state) else { return body };
    let Some(page) = &state.detail else { return body };
    let title = if state.peeked().is_some() { "Peek" } else { "Evidence" };
    edge(painter, body, table, (state.pane, title));
    let lines = state.detail_lines();
    let is_whole = page.lines.len() <= lines && page.folded() == 0;
    let scroll = state.pane.scroll();
    let left = page.lines.len().saturating_sub(scroll);
    let is_whole = is_whole || (left <= lines && page.folded() == 0);
    let shown = if is_whole { lines } else { left.min(lines.saturating_sub(1)) };
    let width = columns(state.size.detail_width(state.beside())).min(inner.width);
    // The text goes down one column and on in the next.
    let place = |at: usize| {
        let (part, line) = (at / usize::from(inner.height).max(1), at % usize::from(inner.height).max(1));
        (inner.x + columns(part) * (width + PART_GAP), inner.y + columns(line))
    };
    for (at, line) in page.lines.iter().skip(scroll).take(shown).enumerate() {
        let (x, y) = place(at);
        painter.line(x, y, width, line);
    }
    let more = left.saturating_sub(shown);
    if !is_whole && inner.height > 0 {
        let facts = (page.folded() > 0).then(|| count(page.folded(), "fact"));
        let lines = (more > 0).then(|| count(more, "more line"));
        let more: Vec<String> = lines.into_iter().chain(facts).collect();
        let text = Line::new(&format!("{}: ", more.join(", ")), Tone::Dim).then("Enter", Tone::Key);
        let (x, y) = place(shown);
        painter.line(x, y, width, &text);
    }
    table
}

/// Divides the body into the table and the lines of the pane, if there is one.
pub(super) fn split(body: Rect, state: &State) -> (Rect, Option<Rect>) {
    if state.detail.is_none() {
        return (body, None);
    }
    match state.beside() {
        Detail::None => (body, None),
        Detail::Right(width) => right(body, width),
        Detail::Below { lines, .. } => below(body, lines),
    }
}

fn right(body: Rect, width: u16) -> (Rect, Option<Rect>) {
    let width = width.min(body.width);
    let table = Rect { width: body.width - width, ..body };
    (table, Some(Rect { x: table.right() + 2, width: width.saturating_sub(3), ..body }))
}

fn below(body: Rect, height: u16) -> (Rect, Option<Rect>) {
    let height = height.min(body.height);
    let table = Rect { height: body.height - height, ..body };
    let inner = Rect {
        x: body.x + 1,
        y: table.bottom() + 1,
        width: body.width.saturating_sub(columns(2)),
        height: height.saturating_sub(1),
    };
    (table, Some(inner))
}

/// Draws what stands between the two; it shows whether the keys that move are for the pane.
fn edge(painter: &mut Painter<'_>, body: Rect, table: Rect, (pane, title): (Pane, &str)) {
    let has_keys = pane != Pane::Table;
    if table.width == body.width {
        let title = if has_keys { format!("{title} · j k scroll, h back") } else { title.to_owned() };
        painter.rule(Rect { y: table.bottom(), height: 1, ..body }, &title);
        if has_keys {
            painter.span(body.x, table.bottom(), 1, &Span::new("▌", Tone::Accent));
        }
        return;
    }
    let accent = painter.look.palette.tone(Tone::Accent);
    let (sign, style) = if has_keys { ("┃", accent) } else { ("│", painter.look.palette.rule) };
    for y in body.top()..body.bottom() {
        painter.text(table.right(), y, 1, sign, style);
    }
}
