//! What stands in a cell of the screen, for the mouse.

use ratatui::layout::Rect;

use super::{detail, footer, panel, table, tabs};
use crate::app::keys::command::Command;
use crate::app::msg::Target;
use crate::app::state::State;
use crate::app::table::geometry::{BOTTOM, Size, TOP};

/// Returns what stands in a cell, as it was drawn last.
pub(crate) fn target(state: &State, (x, y): (u16, u16)) -> Target {
    let Size { width, height } = state.size;
    let area = Rect::new(0, 0, width, height);
    let line = |y: u16| Rect { y, height: 1, ..area };
    let body = Rect { y: TOP, height: height.saturating_sub(TOP + BOTTOM), ..area };
    let found = if y + 1 == TOP {
        tabs::view_at(line(y), state, x).map(|view| Target::Command(Command::Show(view)))
    } else if y + 1 == height {
        footer::command_at(line(y), state, x).map(Target::Command)
    } else if (body.top()..body.bottom()).contains(&y) {
        Some(in_body(body, state, (x, y)))
    } else {
        None
    };
    found.unwrap_or(Target::Nothing)
}

fn in_body(body: Rect, state: &State, cell: (u16, u16)) -> Target {
    if let Some((panel, layer)) = state.panel.as_ref().zip(state.layers.last()) {
        let choice = panel::choice_at(body, panel, layer.scroll(), cell);
        return choice.map_or(Target::Nothing, Target::Choice);
    }
    if state.table.rows.is_empty() {
        return Target::Nothing;
    }
    let (area, details) = detail::split(body, state);
    match details {
        Some(details) if cell.0 >= details.x && cell.1 >= details.y => Target::Details,
        Some(_) | None if area.contains(cell.into()) => table::target_at(area, state, cell),
        Some(_) | None => Target::Nothing,
    }
}
