//! The rows of the history view: what was done and what was observed, the newest first.

use jiff::Timestamp;

use super::row::{Cell, Column, Row, column, number, sentence};
use crate::core::history::change::Kind;
use crate::core::history::journal::{Entry, History};
use crate::core::history::timeline::{Past, Timeline};
use crate::core::model::{Key, Severity};
use crate::present::plan::{ended_of, title};
use crate::present::text::tone::{Mark, Span, Tone, of_severity};
use crate::present::words;

/// The beginning of the key of a change's row.
const ROW: &str = "h-";

/// Returns the key of the row of a change.
pub(crate) fn key_of(number: u64) -> Key {
    Key::typed(&format!("{ROW}{number}"))
}

/// Returns the change whose row has this key.
pub(crate) fn of_key<'a>(timeline: &'a Timeline, key: &Key) -> Option<&'a Past> {
    timeline.get(key.as_str().strip_prefix(ROW)?.parse().ok()?)
}

pub(crate) const COLUMNS: &[Column] = &[
    column("Outcome", 9, 9, 0),
    number("Entry", 5, 5, 2),
    number("Age", 6, 6, 4),
    column("Action", 7, 7, 1),
    sentence("What", 20, 140, 0),
    column("Undo", 6, 12, 3),
];

/// One entry of the history.
pub(crate) enum Item<'a> {
    /// What was done.
    Act(&'a Entry),
    /// What was observed, with its number.
    Seen(u64, &'a Past),
}

impl Item<'_> {
    fn at(&self) -> Timestamp {
        match self {
            Self::Act(entry) => entry.at,
            Self::Seen(_, past) => past.at,
        }
    }

    pub(crate) fn row(&self, now: Timestamp) -> Row {
        match self {
            Self::Act(entry) => of_entry(entry, now),
            Self::Seen(number, past) => of_past(*number, past, now),
        }
    }
}

/// Returns all of it, the newest first.
pub(crate) fn items<'a>(journal: &'a History, timeline: &'a Timeline, now: Timestamp) -> Vec<Item<'a>> {
    let acts = journal.entries.iter().rev().map(Item::Act);
    let seen = timeline.until(now).map(|(number, past)| Item::Seen(number, past));
    let mut all: Vec<Item<'_>> = acts.chain(seen).collect();
    all.sort_by_key(|item| std::cmp::Reverse(item.at()));
    all
}

fn of_entry(entry: &Entry, now: Timestamp) -> Row {
    let number = i64::try_from(entry.number).unwrap_or(i64::MAX);
    let cells = vec![
        Cell { span: outcome(entry), ..Cell::default() },
        Cell::ranked(Span::new(&entry.number.to_string(), Tone::Plain), -number),
        Cell::age(now, Some(entry.at)),
        Cell::text(words::action(entry.intent.action), Tone::Plain),
        Cell::text(&title(entry), Tone::Plain),
        undo(entry),
    ];
    Row { key: Key::typed(&entry.number.to_string()), cells, severity: None, line: None, also: String::new() }
}

fn of_past(number: u64, past: &Past, now: Timestamp) -> Row {
    let cells = vec![
        Cell { span: past_sign(past), ..Cell::default() },
        Cell::default(),
        Cell::age(now, Some(past.at)),
        Cell::text(sort(past.event), Tone::Dim),
        Cell::text(&past.told, Tone::Plain),
        Cell::default(),
    ];
    Row { key: key_of(number), cells, severity: None, line: None, also: String::new() }
}

/// Returns how an entry ended, with its sign.
pub(crate) fn outcome(entry: &Entry) -> Span {
    let (mark, tone, word) = ended_of(entry);
    Span::marked(mark, word, tone)
}

/// Returns what happened to what was observed, with its sign.
pub(crate) fn past_sign(past: &Past) -> Span {
    match past.event {
        Kind::WindowAppeared | Kind::RecordAppeared => Span::marked(Mark::Alive, "new", Tone::Plain),
        Kind::WindowChanged | Kind::RecordChanged | Kind::ClaimChanged => {
            Span::marked(Mark::Info, "changed", Tone::Plain)
        }
        Kind::WindowWaits => Span::marked(Mark::Waiting, "waits", Tone::Notice),
        Kind::WindowUnseen => Span::marked(Mark::Unknown, "unseen", Tone::Plain),
        Kind::WindowGone | Kind::RecordGone => Span::marked(Mark::Dead, "gone", Tone::Plain),
        Kind::FindingRaised => {
            // A history that an earlier version has kept does not say how bad it was.
            let (mark, tone, _) = of_severity(past.severity.unwrap_or(Severity::Warning));
            Span::marked(mark, "raised", tone)
        }
        Kind::FindingCleared => Span::marked(Mark::Alive, "cleared", Tone::Good),
    }
}

fn sort(event: Kind) -> &'static str {
    match event {
        Kind::WindowAppeared
        | Kind::WindowChanged
        | Kind::WindowWaits
        | Kind::WindowGone
        | Kind::WindowUnseen => "window",
        Kind::RecordAppeared | Kind::RecordChanged | Kind::RecordGone => "record",
        Kind::ClaimChanged => "claim",
        Kind::FindingRaised | Kind::FindingCleared => "problem",
    }
}

fn undo(entry: &Entry) -> Cell {
    match entry.undone_by {
        Some(by) => Cell::text(&format!("undone ({by})"), Tone::Dim),
        None if entry.can_be_undone() => Cell::text("z undo", Tone::Key),
        None if entry.is_open() => Cell::text("z put right", Tone::Key),
        None if entry.pruned => Cell::text("gone", Tone::Dim),
        None => Cell::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_was_undone_says_so_and_by_which() {
        let line = r#"{"entry":1,"at":"2026-11-20T09:00:00Z","intent":{"action":"release","title":"x","why":"y","movements":[]}}"#;
        let mut history = History::read(line.as_bytes());
        let entry = history.entries.first_mut().unwrap();
        entry.undone_by = Some(5);
        assert_eq!(undo(entry).span.text(), "undone (5)");
    }

    #[test]
    fn a_problem_that_came_up_has_the_sign_of_how_bad_it_is() {
        let raised = |severity| Past {
            at: Timestamp::UNIX_EPOCH,
            event: Kind::FindingRaised,
            keys: Vec::new(),
            severity,
            told: String::new(),
        };
        for (severity, mark) in [
            (Some(Severity::Info), Mark::Info),
            (Some(Severity::Warning), Mark::Warning),
            (Some(Severity::Collision), Mark::Collision),
            (None, Mark::Warning),
        ] {
            assert_eq!(past_sign(&raised(severity)).mark(), Some(mark));
        }
        let earlier = r#"{"at":"2026-11-20T09:00:00Z","event":"finding-raised","keys":[],"told":""}"#;
        let read: Past = serde_json::from_str(earlier).unwrap();
        assert_eq!(read.severity, None);
    }
}
