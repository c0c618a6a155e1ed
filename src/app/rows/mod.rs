//! The rows of each view: a report turned into cells, before any width or colour is known.

pub(crate) mod claims;
pub(crate) mod collisions;
pub(crate) mod history;
pub(crate) mod left_overs;
pub(crate) mod machines;
pub(crate) mod now;
pub(crate) mod problems;
pub(crate) mod row;
pub(crate) mod sessions;
pub(crate) mod sought;
pub(crate) mod source;
pub(crate) mod windows;

use self::row::{Entry, Table};
use self::source::Source;
use crate::app::table::filter::Filter;
use crate::app::table::order::{Direction, Sort};

/// Chooses and orders the rows of a source; those that are equal in that order stay worst first.
pub(crate) fn table(source: &Source<'_>, filter: &Filter, sort: Sort) -> Table {
    let columns = source.columns();
    let mut widths = vec![0; columns.len()];
    let mut pinned = Vec::new();
    // To grow it by doubling would take twice as much of tens of thousands.
    let mut rows = Vec::with_capacity(if filter.is_empty() { source.len() } else { 0 });
    for (at, row) in (0..source.len()).filter_map(|at| Some((at, source.row(at)?))) {
        if !filter.keeps(&row, || source.sought(&row.key)) {
            continue;
        }
        for (widest, cell) in widths.iter_mut().zip(&row.cells) {
            *widest = cell.span.width().max(*widest);
        }
        if at < source.pinned() {
            pinned.push(Entry { key: row.key, severity: row.severity, at });
            continue;
        }
        let rank = (sort.rank(&row), source.rank(at, &row));
        rows.push((rank, Entry { key: row.key, severity: row.severity, at }));
    }
    let above = pinned.len();
    pinned.extend(arrange(rows, sort.direction));
    Table { columns, rows: pinned, widths, pinned: above, unfiltered: source.len() }
}

fn arrange<R: Ord>(mut ranked: Vec<(R, Entry)>, direction: Direction) -> Vec<Entry> {
    // A stable sort takes as much again.
    ranked.sort_unstable_by(|(a, one), (b, other)| a.cmp(b).then(one.at.cmp(&other.at)));
    if direction == Direction::Backward {
        ranked.reverse();
    }
    let mut rows: Vec<Entry> = ranked.into_iter().map(|(_, entry)| entry).collect();
    // They are put where their ranks have been, too.
    rows.shrink_to_fit();
    rows
}
