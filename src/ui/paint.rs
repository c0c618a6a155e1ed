//! Puts lines into cells: the one way in which text reaches the buffer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::glyphs;
use super::theme::Palette;
use crate::app::rows::row::Align;
use crate::config::Glyphs;
use crate::present::text::tone::{Line, Span, Tone};
use crate::present::text::{cut, is_simple};

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
        if drawn.chars().all(is_simple) {
            return self.simple(x, y, &drawn, style);
        }
        let (end, _) = self.buffer.set_stringn(x, y, drawn, usize::from(room), style);
        end.saturating_sub(x)
    }

    /// Writes what nearly all text is, a character a cell: to look for its graphemes took most of a
    /// frame.
    fn simple(&mut self, x: u16, y: u16, text: &str, style: Style) -> u16 {
        let first = self.buffer.index_of(x, y);
        let cells = self.buffer.content.get_mut(first..).unwrap_or_default();
        let room = usize::from(self.buffer.area.right().saturating_sub(x));
        let mut used = 0;
        for (cell, c) in cells.iter_mut().zip(text.chars()).take(room) {
            cell.set_char(c).set_style(style);
            used += 1;
        }
        used
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

    /// Writes a line; returns the columns used. Nothing follows a span that was cut, which can end before the room does.
    pub(super) fn line(&mut self, x: u16, y: u16, room: u16, line: &Line) -> u16 {
        let mut used = 0;
        for span in &line.0 {
            let left = room.saturating_sub(used);
            used += self.span(x + used, y, left, span);
            if columns(span.width()) > left {
                break;
            }
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
        if style == Style::default() {
            return;
        }
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

#[cfg(test)]
mod tests {
    use ratatui::buffer::Cell;
    use ratatui::style::Color;

    use super::*;
    use crate::config::Theme;
    use crate::ui::theme::Colors;

    #[test]
    fn a_line_is_cut_in_one_place() {
        let line = Line::new("a ↔ b: ", Tone::Strong).then("both edit x", Tone::Plain);
        for room in 1..20 {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 1));
            let look = Look { palette: Palette::new(Theme::Dark, Colors::Used), glyphs: Glyphs::Unicode };
            Painter { buffer: &mut buffer, look }.line(0, 0, room, &line);
            let drawn: String = buffer.content.iter().map(Cell::symbol).collect();
            assert!(drawn.matches('…').count() <= 1, "{drawn}");
        }
    }

    proptest::proptest! {
        #[test]
        fn simple_text_is_drawn_as_any_other(text in "[ -~·‹›…•●▲✗◆▌─-╿]{0,30}", x in 0u16..12, room in 0u16..30) {
            let area = Rect::new(0, 0, 12, 2);
            let (mut drawn, mut expected) = (Buffer::filled(area, Cell::new("日")), Buffer::filled(area, Cell::new("日")));
            let style = Style::new().fg(Color::Red);
            let look = Look { palette: Palette::new(Theme::Dark, Colors::Used), glyphs: Glyphs::Unicode };
            let used = Painter { buffer: &mut drawn, look }.text(x, 1, room, &text, style);
            let cut = cut(&text, usize::from(room));
            let (end, _) = expected.set_stringn(x, 1, &cut, usize::from(room), style);
            proptest::prop_assert_eq!(used, end - x);
            proptest::prop_assert_eq!(drawn, expected);
        }
    }
}
