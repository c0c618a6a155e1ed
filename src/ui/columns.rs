//! Which columns fit and how wide they are: the least important leave first.

use crate::app::rows::{Align, Column, Table, Turn};
use crate::app::text::width;

use super::paint::columns;

/// A column that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Which column of the table.
    pub(super) index: usize,
    /// How wide.
    pub(super) width: u16,
    /// On which side its text stands.
    pub(super) align: Align,
}

/// Chooses columns for `room` and gives them their width. Columns without any text are left
/// out; each has its full width before a less important one has any.
pub(super) fn fit(table: &Table, room: u16, gap: u16) -> Vec<Slot> {
    let mut by_rank: Vec<(usize, &Column, u16)> = table
        .columns
        .iter()
        .enumerate()
        .filter_map(|(index, column)| Some((index, column, natural(table, index, column)?)))
        .collect();
    by_rank.sort_by_key(|(_, column, _)| column.rank);
    let mut left = room + gap;
    let mut slots = Vec::new();
    for (index, column, natural) in by_rank {
        let narrowest = column.width.0.min(natural);
        if narrowest + gap > left {
            continue;
        }
        let width = match column.turn {
            Turn::Own => natural.min(left - gap),
            Turn::Last => narrowest,
        };
        left -= width + gap;
        let more = natural - width;
        slots.push((Slot { index, width, align: column.align }, more));
    }
    for (slot, more) in &mut slots {
        let more = (*more).min(left);
        slot.width += more;
        left -= more;
    }
    let mut slots: Vec<Slot> = slots.into_iter().map(|(slot, _)| slot).collect();
    slots.sort_by_key(|slot| slot.index);
    slots
}

/// Returns the width that shows everything, within the column's limits; `None` when all cells
/// are empty.
fn natural(table: &Table, index: usize, column: &Column) -> Option<u16> {
    let widest = table.widths.get(index).copied()?;
    // Room for the arrow of the sorted column.
    let title = width(column.title) + 1;
    (widest > 0).then(|| columns(widest.max(title)).clamp(column.width.0, column.width.1))
}
