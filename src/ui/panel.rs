//! The open panel: evidence, a plan or the help, with a frame and a scroll mark.

use ratatui::layout::Rect;

use super::paint::{Painter, columns};
use crate::app::page::panel::{Choice, Panel};
use crate::present::text::tone::{Line, Span, Tone};

pub(super) fn draw(painter: &mut Painter<'_>, body: Rect, (panel, scroll, at): (&Panel, usize, usize)) {
    let lines = usize::from(body.height.saturating_sub(2));
    frame(painter, body, &panel.title);
    let (pinned, rest) = panel.page.lines.split_at(panel.page.pinned.min(panel.page.lines.len()));
    let shown = pinned.iter().chain(rest.iter().skip(scroll)).take(lines);
    for (y, line) in (body.y + 1..body.bottom()).zip(shown) {
        painter.line(body.x + 2, y, body.width.saturating_sub(4), line);
    }
    if let Some(choice) = panel.choices.get(at) {
        bar(painter, body, (panel, scroll), choice);
    }
    scroll_mark(painter, body, (panel, scroll), lines);
}

/// Returns which of its choices stands in a cell.
pub(super) fn choice_at(body: Rect, panel: &Panel, scroll: usize, (x, y): (u16, u16)) -> Option<usize> {
    let line = usize::from(y.checked_sub(body.y + 1)?);
    let line = if line < panel.page.pinned { line } else { line + scroll };
    let column = usize::from(x.checked_sub(body.x + 2)?);
    panel.choices.iter().position(|choice| {
        let (from, wide) = choice.columns;
        choice.line == line && (from..from.saturating_add(wide)).contains(&column)
    })
}

/// Lays the bar over what is chosen.
fn bar(painter: &mut Painter<'_>, body: Rect, (panel, scroll): (&Panel, usize), choice: &Choice) {
    let pinned = panel.page.pinned;
    let Some(line) = choice.line.checked_sub(if choice.line < pinned { 0 } else { scroll }) else { return };
    let y = body.y + 1 + columns(line);
    if y + 1 >= body.bottom() {
        return;
    }
    let inner = Rect { x: body.x + 2, y, width: body.width.saturating_sub(4), height: 1 };
    let (from, width) = (columns(choice.columns.0), columns(choice.columns.1));
    let x = inner.x.saturating_add(from).min(inner.right());
    painter.wash(Rect { x, width: width.min(inner.right() - x), ..inner }, painter.look.palette.selected);
    painter.span(x.saturating_sub(1), y, 1, &Span::new("▌", Tone::Accent));
}

fn frame(painter: &mut Painter<'_>, area: Rect, title: &str) {
    painter.rule(Rect { height: 1, ..area }, title);
    painter.rule(Rect { y: area.bottom().saturating_sub(1), height: 1, ..area }, "");
}

/// Says on the lower rule which lines are shown, if not all are; pinned ones do not count.
fn scroll_mark(painter: &mut Painter<'_>, area: Rect, (panel, scroll): (&Panel, usize), lines: usize) {
    let total = panel.page.lines.len();
    if total <= lines || lines <= panel.page.pinned {
        return;
    }
    let (total, lines) = (total - panel.page.pinned, lines.saturating_sub(panel.page.pinned));
    let last = (scroll + lines).min(total);
    let text = format!(" {}-{last} of {total} · {} ", scroll + 1, panel.keys);
    let line = Line::new(&text, Tone::Dim);
    let width = columns(line.width());
    painter.line(area.right().saturating_sub(width + 2), area.bottom().saturating_sub(1), width, &line);
}
