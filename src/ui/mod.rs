//! The state turned into cells. Nothing here changes the state or does any input or output.

mod columns;
mod detail;
mod empty;
mod footer;
pub(crate) mod glyphs;
mod header;
mod paint;
mod palettes;
mod panel;
pub(crate) mod pointed;
pub(crate) mod svg;
mod table;
mod tabs;
#[cfg(test)]
mod tests;
pub(crate) mod theme;

pub use paint::Look;
use paint::Painter;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use crate::app::state::State;
use crate::app::table::geometry::{BOTTOM, Size, TOP};

/// Draws the whole screen over its ground.
fn draw(state: &State, look: Look, buffer: &mut Buffer) {
    let area = buffer.area;
    let mut painter = Painter { buffer, look };
    let line = |y: u16| Rect { x: area.x, y, width: area.width, height: 1 }.intersection(area);
    header::draw(&mut painter, line(area.y), state);
    tabs::draw(&mut painter, line(area.y + 1), state);
    let body = Rect { y: area.y + TOP, height: area.height.saturating_sub(TOP + BOTTOM), ..area };
    draw_body(&mut painter, body.intersection(area), state);
    footer::draw_summary(&mut painter, line(area.bottom().saturating_sub(2)), state);
    footer::draw_keys(&mut painter, line(area.bottom().saturating_sub(1)), state);
}

fn draw_body(painter: &mut Painter<'_>, body: Rect, state: &State) {
    if let Some((panel, layer)) = state.panel.as_ref().zip(state.layers.last()) {
        return panel::draw(painter, body, (panel, layer.scroll(), layer.chosen()));
    }
    if state.table.rows.is_empty() {
        return empty::draw(painter, body, state);
    }
    let table = detail::draw(painter, body, state);
    table::draw(painter, table, state);
}

/// Draws the screen into a buffer of its own.
pub fn render(state: &State, look: Look) -> Buffer {
    let Size { width, height } = state.size;
    let mut ground = Cell::EMPTY;
    ground.set_style(look.palette.ground);
    let mut buffer = Buffer::filled(Rect::new(0, 0, width, height), ground);
    draw(state, look, &mut buffer);
    buffer
}
