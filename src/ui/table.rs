//! The table of a view: the names of its columns and the visible rows.

use ratatui::layout::Rect;

use super::columns::{Slot, fit};
use super::paint::{Painter, columns};
use crate::app::order::Direction;
use crate::app::rows::row::Row;
use crate::app::state::{Header, State};
use crate::core::model::key::Key;
use crate::present::tone::{Line, Mark, Span, Tone};

/// Columns on the left for the selection bar and the mark.
const GUTTER: u16 = 2;

/// Draws names and rows.
pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, state: &State) {
    let gap = if area.width < 100 { 1 } else { 2 };
    let slots = fit(&state.table, state.place(), area.width.saturating_sub(GUTTER + 1), gap);
    let visible = state.visible();
    // What is no row of the table stands above the names of its columns.
    let above = columns(visible.iter().take_while(|row| row.line.is_some()).count());
    head(painter, Rect { y: area.y + above, ..area }, state, &slots, gap);
    let lines = (area.top()..area.bottom()).filter(|line| *line != area.y + above);
    let top = state.place().top;
    for (line, (at, row)) in lines.zip(visible.iter().enumerate()) {
        let area = Rect { y: line, height: 1, ..area };
        match &row.line {
            Some(line) => draw_line(painter, area, line),
            None => draw_row(painter, area, row, &slots, gap),
        }
        gutter(painter, area, top + at == state.place().at, sign(state, &row.key));
    }
}

fn head(painter: &mut Painter<'_>, area: Rect, state: &State, slots: &[Slot], gap: u16) {
    let sort = state.place().sort;
    let arrow = match sort.direction {
        Direction::Forward => "▲",
        Direction::Backward => "▼",
    };
    let mut x = area.x + GUTTER;
    for slot in slots {
        let Some(column) = state.table.columns.get(slot.index) else { continue };
        let is_sorted = sort.by == Some(slot.index);
        let tone = if is_sorted { Tone::Accent } else { Tone::Dim };
        let title = if is_sorted { format!("{}{arrow}", column.title) } else { column.title.to_owned() };
        match state.header {
            Header::Numbers if slot.index < 9 => {
                let number = Line::new(&(slot.index + 1).to_string(), Tone::Key);
                painter.line(x, area.y, slot.width, &number.then(&format!(" {title}"), tone));
            }
            Header::Numbers | Header::Names => {
                painter.aligned(x, area.y, slot.width, &Span::new(&title, tone), slot.align);
            }
        }
        x += slot.width + gap;
    }
}

/// Draws a line across all columns; what stands on its right is whole.
fn draw_line(painter: &mut Painter<'_>, area: Rect, (left, right): &(Line, Line)) {
    let room = area.width.saturating_sub(GUTTER + 1);
    let keys = columns(right.width()).min(room);
    painter.line(area.x + GUTTER, area.y, room.saturating_sub(keys + 2), left);
    painter.line(area.x + GUTTER + room - keys, area.y, keys, right);
}

fn draw_row(painter: &mut Painter<'_>, area: Rect, row: &Row, slots: &[Slot], gap: u16) {
    let mut x = area.x + GUTTER;
    for slot in slots {
        if let Some(cell) = row.cells.get(slot.index) {
            painter.aligned(x, area.y, slot.width, &cell.span, slot.align);
        }
        x += slot.width + gap;
    }
}

/// Returns the sign before a row: chosen by a person, or changed since.
fn sign(state: &State, key: &Key) -> Option<Mark> {
    let news = state.news.contains(key).then_some(Mark::News);
    state.marks.contains(key).then_some(Mark::Chosen).or(news)
}

fn gutter(painter: &mut Painter<'_>, area: Rect, is_selected: bool, sign: Option<Mark>) {
    if is_selected {
        painter.wash(area, painter.look.palette.selected);
        painter.span(area.x, area.y, 1, &Span::new("▌", Tone::Accent));
    }
    if let Some(sign) = sign {
        painter.span(area.x + 1, area.y, 1, &Span::marked(sign, "", Tone::Accent));
    }
}
