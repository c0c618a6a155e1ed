//! The second line: the views with how many rows each has.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::paint::{Painter, columns};
use crate::app::state::State;
use crate::app::view::View;
use crate::present::lookup::Index;
use crate::present::tone::{Line, Tone};

/// Draws the tabs, in their short form where there is no room. That of the shown view says which row
/// is selected where not all are on the screen.
pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, state: &State) {
    for (view, tab, place) in places(area, state) {
        let used = painter.line(place.x, place.y, place.width, &tab);
        if view == state.view {
            let area = Rect { width: used, ..place };
            painter.wash(area, ratatui::style::Style::new().add_modifier(Modifier::UNDERLINED));
        }
    }
}

/// Returns the view whose tab stands in a column.
pub(super) fn at(area: Rect, state: &State, x: u16) -> Option<View> {
    let mut places = places(area, state).into_iter();
    places.find(|(_, _, place)| (place.left()..place.right()).contains(&x)).map(|(view, ..)| view)
}

/// Places the tabs, one beside the other.
fn places(area: Rect, state: &State) -> Vec<(View, Line, Rect)> {
    let tabs = View::ALL.into_iter().enumerate().map(|(at, view)| (view, tab(state, at, view)));
    let tabs: Vec<(View, Line)> = tabs.collect();
    let full: usize = tabs.iter().map(|(_, tab)| tab.width() + 2).sum();
    let gap = if columns(full) > area.width { 1 } else { 2 };
    let mut x = area.x + 1;
    let mut placed = Vec::new();
    for (view, tab) in tabs {
        let width = columns(tab.width()).min(area.right().saturating_sub(x));
        placed.push((view, tab, Rect { x, width, ..area }));
        x += width + gap;
    }
    placed
}

fn tab(state: &State, at: usize, view: View) -> Line {
    let (key, name) =
        if view == state.view { (Tone::Accent, Tone::Accent) } else { (Tone::Key, Tone::Plain) };
    let line = Line::new(&format!("{} ", at + 1), key).then(view.title(), name);
    let (rows, shown) = (state.table.rows.len(), state.visible().len());
    if view == state.view && rows > shown {
        return line.then(&format!(" {}/{rows}", state.place().at + 1), Tone::Dim);
    }
    match state.index.as_ref().and_then(|index| total(index, view)) {
        Some(total) if state.size.width >= 72 => line.then(&format!(" {total}"), Tone::Dim),
        Some(_) | None => line,
    }
}

fn total(index: &Index, view: View) -> Option<usize> {
    let report = &index.report;
    match view {
        View::Now => Some(index.needs.len()),
        View::Windows => Some(report.windows.len()),
        View::Sessions => Some(report.records.len()),
        View::Claims => Some(report.claims.len()),
        View::Problems => Some(report.problems().len()),
        View::History => None,
    }
}
