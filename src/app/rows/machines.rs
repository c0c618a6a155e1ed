//! The rows of the machines view, and the mark of each other row that is elsewhere.

use jiff::Timestamp;

use super::row::{Cell, Column, Row, column, number, sentence};
use crate::core::model::{MachineState, MachineView};
use crate::present::machine::{briefly, standing, unseen_for};
use crate::present::report_index::Index;
use crate::present::text::safe;
use crate::present::text::tone::{Mark, Span, Tone};

pub(crate) const COLUMNS: &[Column] = &[
    column("State", 11, 11, 0),
    column("Machine", 8, 24, 1),
    number("Windows", 7, 7, 2),
    number("Answers", 7, 8, 5),
    number("Seen", 6, 6, 3),
    column("Host", 6, 20, 6),
    column("Version", 7, 10, 7),
    sentence("Why", 20, 140, 4),
    column("Reached by", 10, 44, 8),
];

/// The column that says where something is; nothing of this machine's own has a text in it.
pub(super) const COLUMN: Column = column("Machine", 8, 30, 1);

pub(crate) fn row(machine: &MachineView, now: Timestamp) -> Row {
    let (mark, tone, word) = standing(machine.state);
    let maybe = |text: &Option<crate::core::model::Untrusted>| {
        Cell::text(&text.as_ref().map_or_else(String::new, |text| text.shown()), Tone::Dim)
    };
    let answers = machine.latency_ms.map_or_else(Cell::default, |ms| {
        Cell::ranked(Span::new(&format!("{ms} ms"), Tone::Dim), i64::try_from(ms).unwrap_or(i64::MAX))
    });
    let seen = machine.seen_at.filter(|_| machine.state != MachineState::Live);
    Row {
        key: machine.key.clone(),
        cells: vec![
            Cell::ranked(Span::marked(mark, word, tone), rank(machine.state)),
            Cell::text(&machine.name, Tone::Strong),
            Cell::ranked(
                Span::new(&machine.windows.to_string(), Tone::Plain),
                i64::try_from(machine.windows).unwrap_or(i64::MAX),
            ),
            answers,
            Cell::age(now, seen),
            maybe(&machine.host),
            maybe(&machine.version),
            Cell::text(machine.detail.raw(), Tone::Plain),
            Cell::text(&briefly(&machine.transport), Tone::Dim),
        ],
        severity: None,
        line: None,
        also: String::new(),
    }
}

fn rank(state: MachineState) -> i64 {
    match state {
        MachineState::Unreached => 0,
        MachineState::Silent => 1,
        MachineState::Connecting => 2,
        MachineState::Late => 3,
        MachineState::Live => 4,
    }
}

/// Says of a row where it is, and where nothing is heard of that machine that it shows what was.
pub(super) fn mark(row: &mut Row, index: &Index, has_process: bool, now: Timestamp) {
    let name = row.key.machine().map(str::to_owned);
    let machine = index.machine_of(&row.key);
    let is_silent = machine.is_some_and(|machine| !machine.state.is_heard());
    if let (Some(banner), Some(name)) = (&mut row.line, &name) {
        let unseen = machine.filter(|_| is_silent).and_then(|machine| unseen_for(machine, now));
        let unseen = unseen.map(|unseen| format!(", {unseen}")).unwrap_or_default();
        banner.what = banner.what.clone().then(&format!(" on {}{unseen}", safe(name)), Tone::Dim);
    }
    if is_silent {
        row.cells.iter_mut().for_each(|cell| cell.span.tone = Tone::Dim);
        if let Some(first) = row.cells.first_mut().filter(|_| has_process) {
            first.span = Span::marked(Mark::Unknown, "not seen", Tone::Dim);
        }
    }
    let mut cell = Cell::text(name.as_deref().unwrap_or_default(), Tone::Plain);
    if let Some(unseen) = machine.filter(|_| is_silent).and_then(|machine| unseen_for(machine, now)) {
        cell = Cell::text(&format!("{}, {unseen}", name.as_deref().unwrap_or_default()), Tone::Warning);
        cell.since = machine.and_then(|machine| machine.seen_at);
    }
    row.cells.push(cell);
}
