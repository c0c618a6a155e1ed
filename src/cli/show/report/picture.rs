//! The map as a picture: three columns of spots, and the edges between them.

use super::html::{Html, escaped};
use crate::core::model::VerdictState;
use crate::present::map::{Column, Edge, Map, Position, Spot, letters};
use crate::present::text::{cut, width};

/// The height of a line, in pixels.
const LINE: usize = 24;

/// The most characters of a name.
const LONGEST: usize = 42;

/// Where the spots of a column are, from the left.
fn left(column: Column) -> usize {
    match column {
        Column::Window => 70,
        Column::Record => 400,
        Column::Resource => 800,
    }
}

fn middle(at: usize) -> usize {
    40 + at * LINE
}

pub(super) fn draw(page: &mut Html, map: &Map) {
    let longest = map.windows.len().max(map.records.len()).max(map.resources.len());
    let height = middle(longest) + 10;
    page.raw(&format!(
        "<div class=\"scroll\"><svg viewBox=\"0 0 1130 {height}\" width=\"1130\" height=\"{height}\" role=\"img\">\n\
         <title>Windows, records and what they hold</title>\n"
    ));
    map.edges.iter().for_each(|edge| draw_edge(page, map, edge));
    (0..map.resources.len()).for_each(|at| draw_sharing(page, map, (Column::Resource, at)));
    for (column, title, spots) in [
        (Column::Window, "Windows", &map.windows),
        (Column::Record, "Records", &map.records),
        (Column::Resource, "Resources", &map.resources),
    ] {
        page.raw(&format!("<text class=\"letter\" x=\"{}\" y=\"18\">", left(column)));
        page.text(title);
        page.raw("</text>\n");
        let own = spots.iter().enumerate().filter(|(_, spot)| spot.state.is_some());
        own.for_each(|(at, spot)| draw_spot(page, (column, at), spot));
    }
    page.raw("</svg></div>\n");
}

fn draw_spot(page: &mut Html, (column, at): Position, spot: &Spot) {
    let (x, y) = (left(column), middle(at));
    let class = match spot.state {
        Some(VerdictState::Alive) => "alive",
        Some(VerdictState::Dead) => "dead",
        Some(VerdictState::Unknown) => "unknown",
        None => return,
    };
    page.raw(&format!(
        "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"4.5\"><title>{class}</title></circle>"
    ));
    if !spot.collisions.is_empty() {
        mark(page, &spot.collisions, (x - 22, y + 4));
    }
    page.raw(&format!("<text x=\"{}\" y=\"{}\">", x + 11, y + 4));
    page.text(&cut(&spot.name, LONGEST));
    page.raw(&format!("<title>{}</title></text>\n", escaped(&spot.name)));
}

fn draw_edge(page: &mut Html, map: &Map, edge: &Edge) {
    let (Some(from), Column::Window | Column::Record) = (map.spot(edge.from), edge.from.0) else { return };
    if is_sharing(map, edge.to) {
        return;
    }
    let (x1, x2) = (left(edge.from.0) + 16 + width(&cut(&from.name, LONGEST)) * 7, left(edge.to.0) - 8);
    let (y1, y2) = (middle(edge.from.1), middle(edge.to.1));
    let half = usize::midpoint(x1, x2);
    let class = if edge.collisions.is_empty() { "" } else { " class=\"collides\"" };
    page.raw(&format!("<path{class} d=\"M{x1} {y1} C{half} {y1} {half} {y2} {x2} {y2}\"/>\n"));
    if !edge.collisions.is_empty() {
        mark(page, &edge.collisions, (x2 - 22, y2 - 4));
    }
}

/// Returns whether a spot stands for what windows share without a record.
fn is_sharing(map: &Map, place: Position) -> bool {
    map.spot(place).is_some_and(|spot| spot.state.is_none())
}

/// Draws what windows share as arcs beside them.
fn draw_sharing(page: &mut Html, map: &Map, place: Position) {
    let edges: Vec<&Edge> =
        map.edges.iter().filter(|edge| edge.to == place && is_sharing(map, place)).collect();
    for pair in edges.windows(2) {
        let [above, below] = pair else { continue };
        let (x, y1, y2) = (left(Column::Window) - 8, middle(above.from.1), middle(below.from.1));
        let out = x.saturating_sub(24 + 6 * (place.1 % 5));
        page.raw(&format!("<path class=\"collides\" d=\"M{x} {y1} C{out} {y1} {out} {y2} {x} {y2}\"/>\n"));
        mark(page, &above.collisions, (out.saturating_sub(8), usize::midpoint(y1, y2) + 4));
    }
}

fn mark(page: &mut Html, collisions: &[usize], (x, y): (usize, usize)) {
    let names: Vec<String> = collisions.iter().map(|letter| letters(*letter)).collect();
    page.raw(&format!("<text class=\"letter\" x=\"{x}\" y=\"{y}\">{}</text>\n", names.join(",")));
}
