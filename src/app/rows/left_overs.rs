//! The rows of the left-overs view.

use jiff::Timestamp;

use super::machines;
use super::row::{Cell, Column, Row, column, number, sentence, worst};
use crate::core::model::{Certainty, LeftOver, LeftStash, LeftTree};
use crate::present::left_over::{self, Way};
use crate::present::report_index::Index;
use crate::present::text::tone::{Span, Tone};
use crate::present::text::{megabytes, outside};

pub(crate) const COLUMNS: &[Column] = &[
    column("Sure", 9, 9, 0),
    sentence("Runs", 14, 60, 1),
    sentence("Left by", 12, 30, 2),
    number("Ended", 6, 8, 5),
    number("Memory", 6, 8, 4),
    column("Port", 5, 14, 6),
    column("End it", 7, 7, 3),
    number("Age", 6, 6, 7),
    sentence("Folder", 12, 40, 8),
    number("PID", 5, 8, 9),
    machines::COLUMN,
];

/// The column by which rows that are equally sure are ordered.
pub(crate) const MEMORY: usize = 4;

pub(crate) fn row(index: &Index, one: &LeftOver, now: Timestamp) -> Row {
    let (mark, tone, word) = left_over::sign(one.certainty);
    // What is still needed comes last.
    let (name, text) = match one.certainty {
        Certainty::Held => (Tone::Dim, Tone::Dim),
        Certainty::Exact | Certainty::Strong | Certainty::Guess | Certainty::Unknown => {
            (Tone::Strong, Tone::Plain)
        }
    };
    let cells = vec![
        Cell::ranked(Span::marked(mark, word, tone), order(one)),
        Cell::text(&left_over::what(one), name),
        Cell::text(&left_over::whose(one), text),
        ended(one.certainty, one.window_ended_at, now),
        memory(one.memory(), text),
        ports(one, text),
        way(index, one),
        Cell::age(now, one.started_at),
        Cell::text(&outside(one.folder.as_ref()), Tone::Dim),
        Cell::pid(Some(one.pid)),
    ];
    let severity = worst(&index.problems_near(&one.key)).map(|finding| finding.severity);
    Row { key: one.key.clone(), cells, line: None, severity, also: String::new() }
}

/// Makes the row of a working tree: git removes it, and only what a dead window locked is let go here.
pub(crate) fn tree(index: &Index, one: &LeftTree, now: Timestamp) -> Row {
    let (mark, tone, word) = left_over::sign(one.certainty);
    let (name, text) = match one.certainty {
        Certainty::Held => (Tone::Dim, Tone::Dim),
        Certainty::Exact | Certainty::Strong | Certainty::Guess | Certainty::Unknown => {
            (Tone::Strong, Tone::Plain)
        }
    };
    let known = one.known().join(", ");
    let known = if known.is_empty() { known } else { format!(": {known}") };
    let cells = vec![
        Cell::ranked(Span::marked(mark, word, tone), tree_order(one)),
        Cell::text(&format!("{}{known}", left_over::tree(one)), name),
        Cell::text(&left_over::tree_of(one), text),
        ended(one.certainty, one.window_ended_at, now),
        Cell::default(),
        Cell::default(),
        unlock(one),
        Cell::default(),
        Cell::text(&outside(Some(&one.path)), Tone::Dim),
        Cell::default(),
    ];
    let severity = worst(&index.problems_near(&one.key)).map(|finding| finding.severity);
    Row { key: one.key.clone(), cells, line: None, severity, also: outside(one.branch.as_ref()) }
}

/// Makes the row of a stash entry: git puts its files back.
pub(crate) fn stash(one: &LeftStash, now: Timestamp) -> Row {
    let certainty = Certainty::Strong;
    let (mark, tone, word) = left_over::sign(certainty);
    let cells = vec![
        Cell::ranked(Span::marked(mark, word, tone), 2),
        Cell::text(&left_over::stash(one), Tone::Strong),
        Cell::text(&outside(Some(&one.window_name)), Tone::Plain),
        Cell::default(),
        Cell::default(),
        Cell::default(),
        Cell::text("no", Tone::Dim),
        Cell::age(now, one.since),
        Cell::text(&outside(Some(&one.folder)), Tone::Dim),
        Cell::default(),
    ];
    Row { key: one.key.clone(), cells, line: None, severity: None, also: outside(Some(&one.session)) }
}

/// What can be ended stands first, what is in use last.
fn order(one: &LeftOver) -> i64 {
    match one.certainty {
        Certainty::Exact if one.may_be_ended() => 0,
        Certainty::Strong if one.may_be_ended() => 1,
        Certainty::Exact | Certainty::Strong => 2,
        Certainty::Guess => 3,
        Certainty::Unknown => 4,
        Certainty::Held => 5,
    }
}

/// Among what cannot be ended, by how sure it is.
fn tree_order(one: &LeftTree) -> i64 {
    match one.certainty {
        Certainty::Exact | Certainty::Strong => 2,
        Certainty::Guess => 3,
        Certainty::Unknown => 4,
        Certainty::Held => 5,
    }
}

/// Says when its window ended, or that it lives.
fn ended(certainty: Certainty, at: Option<Timestamp>, now: Timestamp) -> Cell {
    if certainty == Certainty::Held {
        return Cell::ranked(Span::new("alive", Tone::Dim), -1);
    }
    if at.is_none() {
        return Cell::default();
    }
    let cell = Cell::age(now, at);
    Cell { span: Span::new(&format!("{} ago", cell.span.text()), Tone::Plain), ..cell }
}

fn memory(bytes: Option<u64>, tone: Tone) -> Cell {
    let Some(bytes) = bytes else { return Cell::default() };
    Cell::ranked(Span::new(&megabytes(bytes), tone), i64::try_from(bytes).unwrap_or(i64::MAX))
}

fn ports(one: &LeftOver, tone: Tone) -> Cell {
    let order = one.ports().first().map_or(i64::MAX, |port| i64::from(port.number));
    Cell::ranked(Span::new(&left_over::ports(one).unwrap_or_default(), tone), order)
}

/// What a dead window has locked can be unlocked; removing it is for git.
fn unlock(one: &LeftTree) -> Cell {
    match one.releasable_lock.as_ref().filter(|_| one.is_left()) {
        Some(_) => Cell::text("r, lock", Tone::Key),
        None => Cell::text("no", Tone::Dim),
    }
}

fn way(index: &Index, one: &LeftOver) -> Cell {
    match left_over::way(&index.report, one).0 {
        Way::Code => Cell::text("x, code", Tone::Key),
        Way::Name => Cell::text("x, name", Tone::Key),
        Way::Never => Cell::text("no", Tone::Dim),
    }
}
