//! The table of a view: the names of its columns and the visible rows.

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::columns::{Slot, fit};
use super::paint::{Painter, columns};
use crate::app::keys::command::Command;
use crate::app::msg::Target;
use crate::app::rows::row::{Align, Banner, Row};
use crate::app::state::{Header, State};
use crate::app::table::order::Direction;
use crate::core::model::report::key::Key;
use crate::present::text::tone::{Line, Mark, Span, Tone};

/// Columns on the left for the selection bar and the mark.
const GUTTER: u16 = 2;

/// Draws names and rows.
pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, state: &State) {
    let (slots, gap) = slots(area, state);
    let visible = state.visible();
    let above = above(state);
    head(painter, Rect { y: area.y + above, ..area }, state, &slots, gap);
    let lines = (area.top()..area.bottom()).filter(|line| *line != area.y + above);
    for (line, (at, row)) in lines.zip(visible.iter().enumerate()) {
        let area = Rect { y: line, height: 1, ..area };
        match &row.line {
            Some(banner) => draw_banner(painter, area, banner),
            None => draw_row(painter, area, row, &slots, gap),
        }
        gutter(painter, area, state.bands.row(at) == Some(state.place().at), sign(state, &row.key));
    }
}

/// Chooses the columns; returns them and the gap between two.
fn slots(area: Rect, state: &State) -> (Vec<Slot>, u16) {
    let gap = if area.width < 100 { 1 } else { 2 };
    (fit(&state.table, state.place(), area.width.saturating_sub(GUTTER + 1), gap), gap)
}

/// Returns how many lines stand above the names of the columns: what is no row of the table.
fn above(state: &State) -> u16 {
    columns(state.visible().iter().take_while(|row| row.line.is_some()).count())
}

/// Returns what stands in a cell of the table.
pub(super) fn target_at(area: Rect, state: &State, (x, y): (u16, u16)) -> Target {
    let head = area.y + above(state);
    if y == head {
        return column_at(area, state, x)
            .map_or(Target::Nothing, |at| Target::Command(Command::SortBy(Some(at))));
    }
    let line = y.saturating_sub(area.y + u16::from(y > head));
    let row = Some(usize::from(line)).filter(|line| *line < state.visible().len());
    row.and_then(|line| state.bands.row(line)).map_or(Target::Nothing, Target::Row)
}

fn column_at(area: Rect, state: &State, x: u16) -> Option<usize> {
    let (slots, gap) = slots(area, state);
    let mut end = area.x + GUTTER;
    for slot in slots {
        end += slot.width + gap;
        if x < end {
            return Some(slot.index);
        }
    }
    None
}

fn head(painter: &mut Painter<'_>, area: Rect, state: &State, slots: &[Slot], gap: u16) {
    let sort = state.place().sort;
    let arrow = match sort.direction {
        Direction::Forward => "▲",
        Direction::Backward => "▼",
    };
    // Below what needs a person the names stand in a rule.
    let is_ruled = above(state) > 0;
    if is_ruled {
        painter.rule(Rect { height: 1, ..area }, "");
    }
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
                if is_ruled {
                    let wide = columns(crate::present::text::width(&title));
                    let left = if slot.align == Align::Right { slot.width.saturating_sub(wide) } else { 0 };
                    painter.text(
                        x + left - 1,
                        area.y,
                        wide + 2,
                        &" ".repeat(usize::from(wide) + 2),
                        Style::new(),
                    );
                }
                painter.aligned(x, area.y, slot.width, &Span::new(&title, tone), slot.align);
            }
        }
        x += slot.width + gap;
    }
}

/// Draws a line across all columns.
fn draw_banner(painter: &mut Painter<'_>, area: Rect, banner: &Banner) {
    let room = area.width.saturating_sub(GUTTER + 1);
    let who = columns(banner.who.width());
    let first = columns(banner.keys.first().map_or(0, Line::width));
    let fits = who + columns(banner.what.width()) + columns(banner.way.width()) + 2 + first <= room;
    let what = banner.brief.as_ref().filter(|_| !fits).unwrap_or(&banner.what);
    let steps = banner.brief_way.as_ref().filter(|_| !fits).unwrap_or(&banner.way);
    let way = columns(steps.width());
    let text = who + columns(what.width()) + way;
    let keys = banner.keys.iter().enumerate().fold(Line::default(), |keys, (at, key)| {
        let gap = if at == 0 { 0 } else { 2 };
        let fits = text + 2 + columns(keys.width()) + gap + columns(key.width()) <= room;
        if at == 0 || fits { keys.then(&" ".repeat(gap.into()), Tone::Dim).joined(key) } else { keys }
    });
    let wide = columns(keys.width()).min(room);
    let left = room.saturating_sub(wide + 2);
    painter.line(area.x + GUTTER + room - wide, area.y, wide, &keys);
    let problem = banner.who.clone().joined(what);
    let x = area.x + GUTTER;
    // The way out is of no use if its window is not visible.
    let for_problem = left.saturating_sub(way).max(who.min(left / 4));
    let used = painter.line(x, area.y, for_problem, &problem);
    painter.line(x + used, area.y, left.saturating_sub(used), steps);
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
