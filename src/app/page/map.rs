//! The map as a page: windows, what belongs to them, and what that holds, one line for each.

use super::panel::{Choice, Pick};
use crate::core::model::{Key, VerdictState};
use crate::present::map::{Column, Edge, Map, Position, letters, map};
use crate::present::report_index::Index;
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Mark, Tone, of_claim};
use crate::present::text::{count, cut, safe, width};

/// Columns of signs and edges.
const EDGES: usize = 15;

/// The columns of windows and of records.
type Widths = (usize, usize);

/// The most of the panel's lines that the legend takes: one of so many.
const LEGEND: usize = 3;

/// Writes the legend, which stays in sight, and below it the map; returns the things in it.
pub(crate) fn write(page: &mut Page, index: &Index, lines: usize) -> Vec<Choice> {
    let map = map(&index.report);
    write_legend(page, &map, index, lines / LEGEND);
    page.pin();
    let widths = widths(&map, page.width());
    let mut sheet = Sheet { page, map: &map, index, widths, choices: Vec::new() };
    for at in 0..map.windows.len() {
        write_tree(&mut sheet, (Column::Window, at));
    }
    let loose: Vec<Position> = map.loose_records().collect();
    if !loose.is_empty() {
        sheet.page.heading("Without a window");
        for place in loose {
            let collisions = map.spot(place).map_or(&[] as &[usize], |spot| &spot.collisions);
            write_record(&mut sheet, None, (place, collisions));
        }
    }
    let choices = sheet.choices;
    if map.left_out > 0 {
        page.text(&format!("{} more hold nothing and collide with nothing.", map.left_out), Tone::Dim);
    }
    choices
}

/// What the map is written on.
struct Sheet<'a> {
    page: &'a mut Page,
    map: &'a Map,
    index: &'a Index,
    widths: Widths,
    choices: Vec<Choice>,
}

impl Sheet<'_> {
    /// Makes what stands at the end of a line a choice, from a column on.
    fn choose(&mut self, key: Option<&Key>, line: usize, columns: (usize, usize)) {
        if let Some(key) = key {
            self.choices.push(Choice { line, columns, pick: Pick::Thing(key.clone()) });
        }
    }

    /// Names a window or record at the end of a line.
    fn named(&mut self, mut line: Line, place: Option<Position>, columns: usize) -> Line {
        let from = line.width();
        line.0.extend(named(self.map, place, columns).0);
        let key = place.and_then(|place| self.map.spot(place)).and_then(|spot| spot.key.clone());
        self.choose(key.as_ref(), self.page.lines.len(), (from, line.width() - from));
        line
    }

    /// Ends a line with what its edge leads to: the claim, or the collision.
    fn end(&mut self, line: Line, edge: &Edge, collisions: &[usize]) {
        let from = line.width();
        let line = ended(line, self.map, edge, collisions);
        let finding = || self.index.nth_finding(*self.map.collisions.get(*edge.collisions.first()?)?);
        let key = edge.key.clone().or_else(|| finding().map(|(key, _)| key.clone()));
        self.choose(key.as_ref(), self.page.lines.len(), (from, line.width().saturating_sub(from)));
        self.page.lines.push(line);
    }
}

/// Decides how wide windows and records are; what they hold takes the rest, about a third.
fn widths(map: &Map, page: usize) -> Widths {
    let room = page.saturating_sub(EDGES);
    let most = (room * 2 / 7, room * 3 / 8);
    let widest = |names: &mut dyn Iterator<Item = usize>, most: usize| names.max().unwrap_or(0).min(most);
    (
        widest(&mut map.windows.iter().map(|spot| width(&safe(&spot.name))), most.0),
        widest(&mut map.records.iter().map(|spot| width(&safe(&spot.name))), most.1),
    )
}

/// Writes a window with everything that hangs on it.
fn write_tree(sheet: &mut Sheet<'_>, window: Position) {
    let map = sheet.map;
    let edges: Vec<&Edge> = map.edges_from(window).collect();
    let mut name = Some(window);
    if edges.is_empty() {
        let line = sheet.named(Line::default(), name, sheet.widths.0);
        sheet.page.lines.push(line);
    }
    for (at, edge) in edges.iter().enumerate() {
        let fork = match (at, edges.len()) {
            (0, 1) => "─",
            (0, _) => "┬",
            (at, all) if at + 1 == all => "└",
            (_, _) => "├",
        };
        write_branch(sheet, (name.take(), fork), edge);
    }
}

fn write_branch(sheet: &mut Sheet<'_>, lead: (Option<Position>, &str), edge: &Edge) {
    match edge.to.0 {
        Column::Record => write_record(sheet, Some(lead), (edge.to, &edge.collisions)),
        Column::Window | Column::Resource => {
            let line = sheet.named(Line::default(), lead.0, sheet.widths.0);
            let line = line.then(&format!(" {}", lead.1), Tone::Dim).then("─", Tone::Bad);
            sheet.end(line, edge, &edge.collisions);
        }
    }
}

/// Writes a record and, on lines of their own from the second on, what it holds.
fn write_record(
    sheet: &mut Sheet<'_>,
    lead: Option<(Option<Position>, &str)>,
    (record, collisions): (Position, &[usize]),
) {
    let map = sheet.map;
    let (window, fork) = lead.unwrap_or((None, " "));
    let line = sheet.named(Line::default(), window, sheet.widths.0);
    let tone = if collisions.is_empty() { Tone::Dim } else { Tone::Bad };
    let line = line.then(&format!(" {fork}─{} ", flag(collisions, "─")), tone);
    let line = sheet.named(line, Some(record), sheet.widths.1);
    let held: Vec<&Edge> = map.edges_from(record).collect();
    let indent = " ".repeat(line.width());
    let mut line = Some(line);
    for edge in &held {
        let start = line.take().unwrap_or_else(|| Line::new(&indent, Tone::Dim));
        let tone = if edge.collisions.is_empty() { Tone::Dim } else { Tone::Bad };
        let start = start.then(&format!(" ─{} ", flag(&edge.collisions, "─")), tone);
        sheet.end(start, edge, &[]);
    }
    sheet.page.lines.extend(line);
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

fn named(map: &Map, place: Option<Position>, columns: usize) -> Line {
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

/// Says what the signs and letters mean: of the collisions as many as there is room for.
fn write_legend(page: &mut Page, map: &Map, index: &Index, lines: usize) {
    let signs = [
        (Mark::Alive, Tone::Good, "alive"),
        (Mark::Dead, Tone::Warning, "dead"),
        (Mark::Unknown, Tone::Notice, "unknown"),
        (Mark::Collision, Tone::Bad, "collides"),
    ];
    let line = signs.iter().fold(Line::default(), |line, (mark, tone, word)| {
        let line = if line.0.is_empty() { line } else { line.then("  ", Tone::Dim) };
        line.then_marked(*mark, "", *tone).then(&format!(" {word}"), Tone::Dim)
    });
    let all = map.collisions.len();
    page.lines.push(if all == 0 { line.then("  Nothing collides.", Tone::Good) } else { line });
    let room = lines.saturating_sub(1).max(1);
    for (letter, at) in map.collisions.iter().enumerate().take(if all <= room { all } else { room - 1 }) {
        if let Some((_, finding)) = index.nth_finding(*at) {
            let text = format!(" {}: {}", finding.code.name(), finding.message.brief());
            let line = Line::new(&letters(letter), Tone::Bad);
            page.lines.push(line.then(&cut(&safe(&text), page.width().saturating_sub(2)), Tone::Plain));
        }
    }
    if all > room {
        let more = format!("{} in all: press 5", count(all, "collision"));
        page.lines.push(Line::new(&more, Tone::Dim));
    }
    page.lines.push(Line::default());
}
