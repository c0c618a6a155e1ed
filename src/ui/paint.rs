//! Puts lines into cells: the one way in which text reaches the buffer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::app::rows::Align;
use crate::app::text::cut;
use crate::app::tone::{Line, Span, Tone};
use crate::config::Glyphs;

use super::glyphs;
use super::theme::Palette;

/// How everything is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The colours.
    pub palette: Palette,
    /// The characters.
    pub glyphs: Glyphs,
}

/// A buffer with the look of what is put into it.
pub(super) struct Painter<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) look: Look,
}

impl Painter<'_> {
    /// Writes one piece of plain text; returns the columns used.
    pub(super) fn text(&mut self, x: u16, y: u16, room: u16, text: &str, style: Style) -> u16 {
        let text = cut(text, usize::from(room));
        let drawn = glyphs::text(self.look.glyphs, &text);
        if !self.buffer.area.contains((x, y).into()) {
            return 0;
        }
        let (end, _) = self.buffer.set_stringn(x, y, drawn, usize::from(room), style);
        end.saturating_sub(x)
    }

    /// Writes a span with its sign; returns the columns used.
    pub(super) fn span(&mut self, x: u16, y: u16, room: u16, span: &Span) -> u16 {
        let style = self.look.palette.tone(span.tone);
        let mut used = 0;
        if let Some(mark) = span.mark() {
            let sign = glyphs::mark(self.look.glyphs, mark);
            used += self.text(x, y, room, &sign.to_string(), style);
            if !span.text().is_empty() {
                used += self.text(x + used, y, room.saturating_sub(used), " ", style);
            }
        }
        used + self.text(x + used, y, room.saturating_sub(used), span.text(), style)
    }

    /// Writes a line; returns the columns used.
    pub(super) fn line(&mut self, x: u16, y: u16, room: u16, line: &Line) -> u16 {
        let mut used = 0;
        for span in &line.0 {
            used += self.span(x + used, y, room.saturating_sub(used), span);
        }
        used
    }

    /// Writes a span on one side of a column.
    pub(super) fn aligned(&mut self, x: u16, y: u16, room: u16, span: &Span, align: Align) {
        let left = match align {
            Align::Left => 0,
            Align::Right => room.saturating_sub(columns(span.width())),
        };
        self.span(x + left, y, room - left, span);
    }

    /// Writes a rule with a title.
    pub(super) fn rule(&mut self, area: Rect, title: &str) {
        let style = self.look.palette.rule;
        self.text(area.x, area.y, area.width, &"─".repeat(usize::from(area.width)), style);
        if !title.is_empty() {
            let room = area.width.saturating_sub(4);
            let title = cut(title, usize::from(room.saturating_sub(2)));
            let style = self.look.palette.tone(Tone::Strong);
            self.text(area.x + 2, area.y, room, &format!(" {title} "), style);
        }
    }

    /// Lays a style over an area.
    pub(super) fn wash(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area, style);
    }

    /// Empties an area and lays a style over it.
    pub(super) fn clear(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buffer.area);
        for at in area.positions() {
            if let Some(cell) = self.buffer.cell_mut(at) {
                cell.reset();
            }
        }
        self.wash(area, style);
    }
}

/// Turns a width into the type of the screen.
pub(super) fn columns(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}
