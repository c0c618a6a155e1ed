//! The columns of a view: which of them it shows, and by which it is sorted.

use super::order::Direction;
use crate::app::page::panel::{Choice, Pick};
use crate::app::state::State;
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Tone};

/// Writes the columns of the shown view; returns its title.
pub(crate) fn write(page: &mut Page, state: &State) -> (String, Vec<Choice>) {
    let place = state.place();
    let mut choices = Vec::new();
    for (at, column) in state.table.columns.iter().enumerate() {
        let (sign, tone) = if place.hidden.contains(&at) { (" ", Tone::Dim) } else { ("x", Tone::Strong) };
        let line = Line::new(&format!("[{sign}] "), Tone::Key).then(&format!("{:16}", column.title), tone);
        let sorted = match place.sort.direction {
            _ if place.sort.by != Some(at) => "",
            Direction::Forward => "sorted ▲",
            Direction::Backward => "sorted ▼",
        };
        let is_empty = state.table.widths.get(at) == Some(&0);
        let line = line.then(sorted, Tone::Accent);
        choices.push(Choice::line(page.lines.len(), Pick::Column(at)));
        page.lines.push(if is_empty { line.then("empty, so not shown", Tone::Dim) } else { line });
    }
    (format!("Columns of {}", state.view.title()), choices)
}

/// Shows or hides a column of the shown view; one always stays.
pub(crate) fn toggle(state: &mut State, at: usize) {
    let columns = state.table.columns.len();
    let place = state.places.of_mut(state.view);
    if place.hidden.remove(&at) {
        return;
    }
    if place.hidden.len() + 1 < columns {
        place.hidden.insert(at);
    } else {
        state.message = Some("Keep one column".to_owned());
    }
}
