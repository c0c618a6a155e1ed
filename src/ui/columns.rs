//! Which columns fit and how wide they are: the least important leave first.

use super::paint::columns;
use crate::app::rows::row::{Align, Column, Table, Turn};
use crate::app::table::view::ViewPosition;
use crate::present::text::width;

/// How wide names and sentences are before another sentence or a column of little rank has any.
const READABLE: u16 = 30;

/// Columns of this rank and above only fill what is left.
const SPARE: u8 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Which column of the table.
    pub(super) index: usize,
    pub(super) width: u16,
    /// On which side its text stands.
    pub(super) align: Align,
}

/// Chooses columns for `room` and gives them their width. Columns without any text are left
/// out; of the others none is drawn when a more important one is not. Each has its full width
/// before a less important one has any, but for sentences, which take what is left. The most
/// important is the one by which a person has sorted; none is drawn that a person has hidden.
pub(super) fn fit(table: &Table, place: &ViewPosition, room: u16, gap: u16) -> Vec<Slot> {
    let sorted = place.sort.by;
    let mut by_rank: Vec<(usize, &Column, (u16, u16))> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(index, _)| !place.hidden.contains(index))
        .filter_map(|(index, column)| Some((index, column, natural(table, index, column)?)))
        .collect();
    by_rank.sort_by_key(|(index, column, _)| (sorted != Some(*index), column.rank));
    let mut left = room + gap;
    let mut slots = Vec::new();
    for (index, column, (natural, whole)) in by_rank {
        if column.rank >= SPARE || column.turn == Turn::Last {
            widen(&mut slots, &mut left, READABLE);
        }
        let narrowest = match column.align {
            // The beginning of a number is another number.
            Align::Right => natural,
            Align::Left => column.width.0.min(natural),
        };
        let narrowest = narrowest.min(room);
        if narrowest + gap > left {
            break;
        }
        let width = match column.turn {
            Turn::Own => natural.min(left - gap),
            Turn::Last => narrowest,
        };
        left -= width + gap;
        slots.push((Slot { index, width, align: column.align }, natural, whole));
    }
    widen(&mut slots, &mut left, u16::MAX);
    // What is left over goes to what is still cut.
    slots.iter_mut().for_each(|(_, natural, whole)| *natural = *whole);
    widen(&mut slots, &mut left, u16::MAX);
    let mut slots: Vec<Slot> = slots.into_iter().map(|(slot, ..)| slot).collect();
    slots.sort_by_key(|slot| slot.index);
    slots
}

/// Gives columns that could be wider what is left, up to `most` columns each.
fn widen(slots: &mut [(Slot, u16, u16)], left: &mut u16, most: u16) {
    for (slot, natural, _) in slots {
        let more = most.min(*natural).saturating_sub(slot.width).min(*left);
        slot.width += more;
        *left -= more;
    }
}

/// Returns the width that shows everything, within the column's limits and without; `None` when all
/// cells are empty.
fn natural(table: &Table, index: usize, column: &Column) -> Option<(u16, u16)> {
    let widest = table.widths.get(index).copied()?;
    // Room for the arrow of the sorted column.
    let title = width(column.title) + 1;
    let whole = columns(widest.max(title));
    let most = match column.align {
        // A number that is cut is another number.
        Align::Right => column.width.1.max(columns(widest)),
        Align::Left => column.width.1,
    };
    (widest > 0).then(|| (whole.clamp(column.width.0, most), whole))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::msg::{Msg, Press};
    use crate::app::state::{Options, State};
    use crate::app::table::geometry::Size;
    use crate::app::table::order::Sort;
    use crate::app::update;
    use crate::core::testing;

    /// Goes through the views with each room that a table can have.
    fn check(is_right: impl Fn(&Table, &[Slot]) -> bool) {
        let mut state = State::new(Options::default(), Size { width: 200, height: 50 }, testing::now());
        update(&mut state, Msg::Looked(Arc::new(testing::busy())));
        for view in "12345".chars() {
            update(&mut state, Msg::Pressed(Press::Char(view)));
            for room in 10..200 {
                let slots = fit(&state.table, &ViewPosition::default(), room, 2);
                assert!(is_right(&state.table, &slots), "view {view} in {room} columns: {slots:?}");
            }
        }
    }

    fn sorted_by(index: usize) -> ViewPosition {
        ViewPosition { sort: Sort { by: Some(index), ..Sort::default() }, ..ViewPosition::default() }
    }

    #[test]
    fn a_column_that_a_person_has_hidden_is_not_drawn_and_its_room_is_used() {
        check(|table, slots| {
            let hidden = ViewPosition { hidden: [0].into(), ..ViewPosition::default() };
            let room = slots.iter().map(|slot| slot.width + 2).sum();
            let left = fit(table, &hidden, room, 2);
            left.iter().all(|slot| slot.index != 0)
                && slots.iter().all(|slot| slot.index == 0 || left.iter().any(|own| own.index == slot.index))
        });
    }

    fn rank(table: &Table, slot: &Slot) -> u8 {
        table.columns[slot.index].rank
    }

    #[test]
    fn no_column_stands_in_for_a_more_important_one() {
        check(|table, slots| {
            let last = slots.iter().map(|slot| rank(table, slot)).max();
            let is_drawn = |index| slots.iter().any(|slot| slot.index == index);
            table.columns.iter().enumerate().all(|(index, column)| {
                Some(column.rank) > last || natural(table, index, column).is_none() || is_drawn(index)
            })
        });
    }

    #[test]
    fn names_and_sentences_are_readable_before_columns_of_little_rank_come_in() {
        check(|table, slots| {
            let narrow = slots.iter().filter(|slot| {
                let column = &table.columns[slot.index];
                let readable = natural(table, slot.index, column).map(|(natural, _)| natural.min(READABLE));
                column.turn == Turn::Last && Some(slot.width) < readable
            });
            let narrow: Vec<u8> = narrow.map(|slot| rank(table, slot)).collect();
            slots.iter().all(|slot| rank(table, slot) < SPARE || narrow.iter().all(|own| *own >= SPARE))
        });
    }

    #[test]
    fn a_number_is_whole_or_not_there() {
        const NAME: Column =
            Column { title: "Name", width: (12, 40), rank: 0, align: Align::Left, turn: Turn::Own };
        const PID: Column =
            Column { title: "PID", width: (5, 8), rank: 1, align: Align::Right, turn: Turn::Own };
        let table = Table { columns: &[NAME, PID], widths: vec![30, 7], ..Table::default() };
        let pid = |room| {
            fit(&table, &ViewPosition::default(), room, 2)
                .iter()
                .find(|slot| slot.index == 1)
                .map(|slot| slot.width)
        };
        assert_eq!((30..42).filter_map(pid).collect::<Vec<_>>(), [7, 7, 7]);
    }

    #[test]
    fn an_age_that_is_wider_than_its_column_usually_is_takes_the_room_of_a_sentence() {
        const RUNS: Column =
            Column { title: "Runs", width: (14, 60), rank: 1, align: Align::Left, turn: Turn::Last };
        const ENDED: Column =
            Column { title: "Ended", width: (6, 8), rank: 5, align: Align::Right, turn: Turn::Own };
        let table =
            Table { columns: &[RUNS, ENDED], widths: vec![60, "59 min ago".len()], ..Table::default() };
        for room in 26..100 {
            let slots = fit(&table, &ViewPosition::default(), room, 2);
            assert_eq!(slots.last().map(|slot| slot.width), Some(10), "{room}");
        }
    }

    #[test]
    fn nothing_is_cut_while_there_is_room() {
        const TEXT: Column =
            Column { title: "Name", width: (4, 10), rank: 0, align: Align::Left, turn: Turn::Own };
        let table = Table { columns: &[TEXT, TEXT], widths: vec![30, 7], ..Table::default() };
        let widths = |room| -> Vec<u16> {
            fit(&table, &ViewPosition::default(), room, 2).iter().map(|slot| slot.width).collect()
        };
        assert_eq!([widths(19), widths(29), widths(200)], [[10, 7], [20, 7], [30, 7]]);
    }

    #[test]
    fn the_column_by_which_a_person_has_sorted_is_drawn() {
        check(|table, _| {
            (0..table.columns.len()).filter(|index| table.widths[*index] > 0).all(|index| {
                let slots = fit(table, &sorted_by(index), 20, 2);
                slots.iter().any(|slot| slot.index == index && slot.width > 0)
            })
        });
    }

    #[test]
    fn what_is_wrong_is_told_before_what_it_is_about() {
        check(|table, slots| {
            let of = |title| slots.iter().find(|slot| table.columns[slot.index].title == title);
            of("About").is_none() || of("What is wrong").is_some_and(|slot| slot.width >= READABLE)
        });
    }
}
