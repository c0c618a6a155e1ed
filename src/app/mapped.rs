//! The map as a page: windows, what belongs to them, and what that holds, one line for each.

use crate::core::model::{Report, VerdictState};
use crate::present::map::{Column, Edge, Map, Place, letters, map};
use crate::present::page::Page;
use crate::present::text::{cut, safe, width};
use crate::present::tone::{Line, Mark, Tone, of_claim};

/// The most columns that a window and a record may take.
const WIDEST: (usize, usize) = (24, 34);

/// Columns of signs and edges.
const EDGES: usize = 15;

/// The columns of windows and of records.
type Widths = (usize, usize);

pub(crate) fn write(page: &mut Page, report: &Report) -> String {
    let map = map(report);
    let widths = widths(&map, page.width());
    for at in 0..map.windows.len() {
        write_tree(page, &map, (Column::Window, at), widths);
    }
    let loose: Vec<Place> = map.loose_records().collect();
    if !loose.is_empty() {
        page.heading("Without a window");
        for place in loose {
            let collisions = map.spot(place).map_or(&[] as &[usize], |spot| &spot.collisions);
            write_record(page, &map, None, (place, collisions), widths);
        }
    }
    if map.left_out > 0 {
        page.text(&format!("{} more hold nothing and collide with nothing.", map.left_out), Tone::Dim);
    }
    write_legend(page, &map, report);
    "Map: who holds what".to_owned()
}

/// Decides how wide windows and records are; what they hold takes the rest, about a third.
fn widths(map: &Map, page: usize) -> Widths {
    let room = page.saturating_sub(EDGES);
    let most = (WIDEST.0.min(room * 2 / 7), WIDEST.1.min(room * 3 / 8));
    let widest = |names: &mut dyn Iterator<Item = usize>, most: usize| names.max().unwrap_or(0).min(most);
    (
        widest(&mut map.windows.iter().map(|spot| width(&safe(&spot.name))), most.0),
        widest(&mut map.records.iter().map(|spot| width(&safe(&spot.name))), most.1),
    )
}

/// Writes a window with everything that hangs on it.
fn write_tree(page: &mut Page, map: &Map, window: Place, widths: Widths) {
    let edges: Vec<&Edge> = map.from(window).collect();
    let mut name = Some(window);
    if edges.is_empty() {
        page.lines.push(named(map, name, widths.0));
    }
    for (at, edge) in edges.iter().enumerate() {
        let fork = match (at, edges.len()) {
            (0, 1) => "─",
            (0, _) => "┬",
            (at, all) if at + 1 == all => "└",
            (_, _) => "├",
        };
        write_branch(page, map, (name.take(), fork), edge, widths);
    }
}

fn write_branch(page: &mut Page, map: &Map, lead: (Option<Place>, &str), edge: &Edge, widths: Widths) {
    match edge.to.0 {
        Column::Record => {
            write_record(page, map, Some(lead), (edge.to, &edge.collisions), widths);
        }
        Column::Window | Column::Resource => {
            let mut line = named(map, lead.0, widths.0);
            line = line.then(&format!(" {}", lead.1), Tone::Dim);
            line = line.then("─", Tone::Bad);
            page.lines.push(ended(line, map, edge, &edge.collisions));
        }
    }
}

/// Writes a record and, on lines of their own from the second on, what it holds.
fn write_record(
    page: &mut Page,
    map: &Map,
    lead: Option<(Option<Place>, &str)>,
    (record, collisions): (Place, &[usize]),
    widths: Widths,
) {
    let (window, fork) = lead.unwrap_or((None, " "));
    let mut line = named(map, window, widths.0);
    let tone = if collisions.is_empty() { Tone::Dim } else { Tone::Bad };
    line = line.then(&format!(" {fork}─{} ", flag(collisions, "─")), tone);
    line.0.extend(named(map, Some(record), widths.1).0);
    let held: Vec<&Edge> = map.from(record).collect();
    let indent = " ".repeat(line.width());
    let mut line = Some(line);
    for edge in &held {
        let start = line.take().unwrap_or_else(|| Line::new(&indent, Tone::Dim));
        let tone = if edge.collisions.is_empty() { Tone::Dim } else { Tone::Bad };
        let start = start.then(&format!(" ─{} ", flag(&edge.collisions, "─")), tone);
        page.lines.push(ended(start, map, edge, &[]));
    }
    page.lines.extend(line);
}

/// Ends a line with what its edge leads to, under the sign that the claims view has for it.
fn ended(line: Line, map: &Map, edge: &Edge, collisions: &[usize]) -> Line {
    let Some(spot) = map.spot(edge.to) else { return line };
    let (mark, tone) = match edge.claim.map(of_claim) {
        Some((mark, tone, _)) => (mark, tone),
        None => sign(spot.state),
    };
    let line = if collisions.is_empty() {
        line.then("", tone)
    } else {
        line.then(&format!("{} ", flag(collisions, "")), Tone::Bad)
    };
    line.then_marked(mark, "", tone).then(" ", tone).then(&spot.name, Tone::Plain)
}

/// Returns the letters of the collisions of an edge, or a piece of the edge.
fn flag(collisions: &[usize], piece: &str) -> String {
    if collisions.is_empty() {
        return piece.to_owned();
    }
    collisions.iter().map(|letter| letters(*letter)).collect::<Vec<_>>().join(",")
}

fn named(map: &Map, place: Option<Place>, columns: usize) -> Line {
    let Some(spot) = place.and_then(|place| map.spot(place)) else {
        return Line::new(&" ".repeat(columns + 2), Tone::Plain);
    };
    let (mark, tone) = sign(spot.state);
    let name = safe(&spot.name);
    let name = cut(&name, columns);
    let pad = " ".repeat(columns.saturating_sub(width(&name)));
    Line::default().then_marked(mark, "", tone).then(" ", tone).then(&format!("{name}{pad}"), Tone::Strong)
}

fn sign(state: Option<VerdictState>) -> (Mark, Tone) {
    match state {
        Some(VerdictState::Alive) => (Mark::Alive, Tone::Good),
        Some(VerdictState::Dead) => (Mark::Dead, Tone::Warning),
        Some(VerdictState::Unknown) => (Mark::Unknown, Tone::Notice),
        None => (Mark::Collision, Tone::Bad),
    }
}

fn write_legend(page: &mut Page, map: &Map, report: &Report) {
    if map.collisions.is_empty() {
        return page.text("Nothing collides.", Tone::Good);
    }
    page.heading("Collisions");
    for (letter, at) in map.collisions.iter().enumerate() {
        if let Some(finding) = report.findings.get(*at) {
            page.field(
                &letters(letter),
                &format!("{}: {}", finding.code.name(), finding.message),
                Tone::Plain,
            );
        }
    }
}
