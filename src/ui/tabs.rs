//! The second line: the views with how many rows each has.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::paint::{Painter, columns};
use crate::app::state::State;
use crate::app::table::view::View;
use crate::present::text::tone::{Line, Tone};

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
pub(super) fn view_at(area: Rect, state: &State, x: u16) -> Option<View> {
    let mut places = places(area, state).into_iter();
    places.find(|(_, _, place)| (place.left()..place.right()).contains(&x)).map(|(view, ..)| view)
}

/// Places the tabs, one beside the other.
fn places(area: Rect, state: &State) -> Vec<(View, Line, Rect)> {
    let tabs = tabs(area.width, state);
    let gap = if fits(&tabs, area.width) { GAP } else { 1 };
    let mut x = area.x + 1;
    let mut placed = Vec::new();
    for (view, tab) in tabs {
        let width = columns(tab.width()).min(area.right().saturating_sub(x));
        placed.push((view, tab, Rect { x, width, ..area }));
        x += width + gap;
    }
    placed
}

type Tabs = Vec<(View, Line)>;

/// The columns between two tabs, where there is room.
const GAP: u16 = 2;
/// The views in the order in which their names are shortened.
const SHORTENED: [View; 6] =
    [View::Machines, View::Sessions, View::Problems, View::Windows, View::History, View::LeftOvers];
/// The views in the order in which their totals are worth room.
const TOTALS: [View; 7] =
    [View::Now, View::Machines, View::LeftOvers, View::Problems, View::Windows, View::Claims, View::Sessions];

/// Writes the tabs: names are shortened before totals are left out.
fn tabs(room: u16, state: &State) -> Tabs {
    let names = (0..=SHORTENED.len()).filter_map(|names| Some((SHORTENED.get(..names)?, &TOTALS[..])));
    let totals = (0..TOTALS.len()).rev().filter_map(|totals| Some((&SHORTENED[..], TOTALS.get(..totals)?)));
    let mut tabs = Tabs::new();
    for (short, totals) in names.chain(totals) {
        let is_short = |view| view != state.view && short.contains(&view);
        let name = |view: View| if is_short(view) { view.short() } else { view.title() };
        let total = |view| total(state, view).filter(|_| totals.contains(&view));
        tabs = state.views().map(|view| (view, tab(state, view, name(view), total(view)))).collect();
        if fits(&tabs, room) {
            break;
        }
    }
    tabs
}

fn fits(tabs: &Tabs, room: u16) -> bool {
    tabs.iter().map(|(_, tab)| columns(tab.width()) + GAP).sum::<u16>() <= room + 1
}

fn tab(state: &State, view: View, name: &str, total: Option<usize>) -> Line {
    let (key, tone) =
        if view == state.view { (Tone::Accent, Tone::Accent) } else { (Tone::Key, Tone::Plain) };
    let line = Line::new(&format!("{} ", view.digit()), key).then(name, tone);
    let (rows, shown) = (state.table.rows.len(), state.visible().len());
    // The first view has two kinds of rows: its tab counts what needs a person, wherever the selection is.
    if view == state.view && view != View::Now && rows > shown {
        return line.then(&format!(" {}/{rows}", state.place().at + 1), Tone::Dim);
    }
    match total {
        Some(total) => line.then(&format!(" {total}"), Tone::Dim),
        None => line,
    }
}

fn total(state: &State, view: View) -> Option<usize> {
    let report = state.report()?;
    match view {
        View::Now => state.index.as_ref().map(|index| index.needs.len()),
        View::Windows => Some(report.windows.len()),
        View::Sessions => Some(report.records.len()),
        View::Claims => Some(report.claims.len()),
        View::Problems => Some(report.problems().len()),
        // What belongs to a living window is not a left-over.
        View::LeftOvers => {
            let processes = report.left_overs.iter().filter(|one| one.is_left()).count();
            let trees = report.left_trees.iter().filter(|tree| tree.is_left()).count();
            Some(processes + trees + report.left_stashes.len())
        }
        View::History => None,
        View::Machines => Some(report.machines.len()),
    }
}
