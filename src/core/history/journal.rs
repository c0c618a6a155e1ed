//! The journal: intents before anything is touched, outcomes after.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::history::movement::{Lead, Movement, is_taken};
use crate::core::model::text::path::exact;
use crate::core::model::{Action, EndResult, OrderNote, OrderSide, ProcessId, SettingsEdit, Signal};

/// Why ending processes is not undone.
pub(crate) const NOT_BACK: &str = "ended processes do not come back";

/// Why bringing a window back is not undone.
pub(crate) const NOT_CLOSED: &str = "a window that was opened stays open: close it there";

/// An intended action, written before anything is touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The action.
    pub action: Action,
    /// Its subject, for people.
    pub(crate) title: String,
    /// The reason, for people.
    pub(crate) why: String,
    /// The movements in order.
    pub movements: Vec<Movement>,
    /// The home of the action.
    #[serde(with = "exact::option", default, skip_serializing_if = "Option::is_none")]
    pub(crate) home: Option<PathBuf>,
    /// The boot in which it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) boot_id: Option<String>,
    /// Where links in the folders of its files led, as far as no movement names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) leads: Vec<Lead>,
    /// The entry that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// The entry that this one followed, as a part of the same action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<u64>,
    /// The other machine, if one has requested it or was requested to do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderNote>,
    /// What a set-up adds to a file of settings, or removes from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<SettingsEdit>,
}

impl Intent {
    /// Creates an intent that moves nothing.
    pub(crate) fn new(action: Action, title: String, why: String) -> Self {
        Self {
            action,
            title,
            why,
            movements: Vec::new(),
            home: None,
            boot_id: None,
            leads: Vec::new(),
            undoes: None,
            follows: None,
            order: None,
            settings: None,
        }
    }

    /// Returns the order to another machine that it is, if it is one.
    pub fn asked_of(&self) -> Option<&OrderNote> {
        self.order.as_ref().filter(|order| order.side == OrderSide::AskedOf)
    }

    /// Returns the order of another machine that it carries out, if it is one.
    pub fn asked_by(&self) -> Option<&OrderNote> {
        self.order.as_ref().filter(|order| order.side == OrderSide::AskedBy)
    }
}

/// The outcome of an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub ended: EndResult,
    /// What happened, for people; empty when all went as planned.
    pub detail: String,
    /// The number of the entry on the requested machine, if one was begun there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub there: Option<u64>,
}

impl Outcome {
    /// Makes the outcome of an action that ended here.
    pub(crate) fn new(ended: EndResult, detail: String) -> Self {
        Self { ended, detail, there: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// The entry that it belongs to.
    pub(crate) entry: u64,
    /// When it was written.
    pub(crate) at: Timestamp,
    #[serde(flatten)]
    pub(crate) says: Says,
}

/// The fields that every line has.
#[derive(Deserialize)]
struct LineHead {
    entry: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Says {
    /// An intent.
    Intent(Box<Intent>),
    /// An outcome.
    Outcome(Outcome),
    /// Its parked things were removed for good, past their retention.
    Pruned,
}

/// One entry: an intent with its outcome, and the lines after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its number; entries are numbered from 1.
    pub number: u64,
    /// When it began.
    pub(crate) at: Timestamp,
    /// The intent.
    #[serde(flatten)]
    pub intent: Intent,
    /// The outcome; `None` while it is unknown.
    pub outcome: Option<Outcome>,
    /// The entry that undid it.
    pub(crate) undone_by: Option<u64>,
    /// Whether its parked things are gone for good.
    pub(crate) pruned: bool,
}

impl Entry {
    /// Returns the number of the entry on the requested machine, if one was begun there.
    pub fn there(&self) -> Option<u64> {
        self.outcome.as_ref()?.there
    }

    /// Returns whether it was begun here and its outcome is not known.
    pub(crate) fn is_open(&self) -> bool {
        let is_unknown = |outcome: &Outcome| outcome.ended == EndResult::Unknown;
        self.intent.asked_of().is_none() && self.outcome.as_ref().is_none_or(is_unknown)
    }

    /// Returns whether it ended halfway here, so that the files it took may still be parked.
    pub(crate) fn is_stuck(&self) -> bool {
        let is_stuck = self.outcome.as_ref().is_some_and(|outcome| outcome.ended == EndResult::Stuck);
        is_stuck
            && self.intent.asked_of().is_none()
            && self.intent.movements.iter().any(|movement| movement.parked().is_some())
    }

    /// Returns whether all of it was done.
    pub(crate) fn is_done(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.ended == EndResult::Done)
    }

    /// Returns whether undoing it makes sense: it was done, or has left something parked; it was not undone, and no
    /// part of it is gone.
    pub fn can_be_undone(&self) -> bool {
        let is_known = self.intent.asked_of().is_none() || self.there().is_some();
        (self.is_done() || self.is_stuck())
            && is_known
            && self.undone_by.is_none()
            && !self.pruned
            && (self.intent.undoes.is_none() || self.is_stuck() && self.has_taken())
            && !self.is_stop()
            && !self.is_opening()
    }

    /// Returns whether it ended here without being done, and has not been undone since: it should have parked
    /// nothing, but files that were away at that time may be back.
    pub(crate) fn came_to_nothing(&self) -> bool {
        let is_ended = self.outcome.is_some() && !self.is_open() && !self.is_done() && !self.is_stuck();
        is_ended && self.intent.asked_of().is_none() && self.undone_by.is_none() && !self.pruned
    }

    /// Returns the entry whose parked files `undo --beside` brings back: for an undo that got stuck, the entry that
    /// it was to undo, unless it has taken those files itself.
    pub(crate) fn brought_back_by(&self) -> u64 {
        self.intent.undoes.filter(|_| !self.has_moved()).unwrap_or(self.number)
    }

    /// Returns whether it has taken any file itself.
    fn has_taken(&self) -> bool {
        let is_taken = |one: &Movement| matches!(one, Movement::Take { .. } | Movement::Exchange { .. });
        self.intent.movements.iter().any(is_taken)
    }

    /// Returns whether it was to put files that it took itself elsewhere, or to give a file new content.
    fn has_moved(&self) -> bool {
        let movements = &self.intent.movements;
        movements.iter().any(|one| match one {
            Movement::Put { parked, .. } => is_taken(movements, parked),
            Movement::Exchange { .. } => true,
            Movement::Take { .. } | Movement::Rows { .. } | Movement::Stop { .. } => false,
        })
    }

    /// Returns whether it opened a window, which no undo closes.
    pub(crate) fn is_opening(&self) -> bool {
        self.intent.action == Action::BringBack
    }

    /// Returns whether it ended processes, which do not come back.
    pub(crate) fn is_stop(&self) -> bool {
        let is_there = self.intent.asked_of().is_some() && self.intent.action == Action::Stop;
        is_there || self.intent.movements.iter().any(|movement| matches!(movement, Movement::Stop { .. }))
    }
}

/// A journal as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The entries, oldest first.
    pub entries: Vec<Entry>,
    /// How many lines could not be read.
    pub unreadable: usize,
    /// The largest number of an entry that a later claimtop wrote, and that this one cannot read.
    unreadable_up_to: u64,
}

impl History {
    /// Reads a journal. A line that breaks off or is damaged is counted and passed over: an intent is only acted on
    /// after it was written whole.
    pub fn read(text: &[u8]) -> Self {
        let mut history = Self::default();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => history.add(line),
                Err(_) => {
                    history.unreadable += 1;
                    let number = serde_json::from_slice::<LineHead>(line).map_or(0, |line| line.entry);
                    history.unreadable_up_to = history.unreadable_up_to.max(number);
                }
            }
        }
        history
    }

    pub(crate) fn add(&mut self, line: Line) {
        match line.says {
            Says::Intent(intent) => self.begin(line.entry, line.at, *intent),
            Says::Outcome(outcome) => self.finish(line.entry, outcome),
            Says::Pruned => {
                if let Some(entry) = self.entry_mut(line.entry) {
                    entry.pruned = true;
                }
            }
        }
    }

    fn begin(&mut self, number: u64, at: Timestamp, intent: Intent) {
        let entry = Entry { number, at, intent, outcome: None, undone_by: None, pruned: false };
        self.entries.push(entry);
    }

    fn finish(&mut self, number: u64, outcome: Outcome) {
        let Some(entry) = self.entry_mut(number) else { return };
        let undoes = entry.intent.undoes.filter(|_| outcome.ended == EndResult::Done);
        entry.outcome = Some(outcome);
        if let Some(undone) = undoes.and_then(|undone| self.entry_mut(undone)) {
            undone.undone_by = Some(number);
        }
    }

    /// Returns the next signal to end a process: one that was asked to end and is still there is killed.
    pub fn next_signal(&self, id: ProcessId) -> Signal {
        let is_its = |movement: &Movement| match movement {
            Movement::Stop { processes, .. } => processes.iter().any(|print| print.id == id),
            Movement::Take { .. }
            | Movement::Put { .. }
            | Movement::Exchange { .. }
            | Movement::Rows { .. } => false,
        };
        let newest = self.entries.iter().rev().find(|entry| entry.intent.movements.iter().any(is_its));
        let stayed =
            |entry: &&Entry| entry.outcome.as_ref().is_some_and(|outcome| outcome.ended == EndResult::Partly);
        if newest.is_some_and(|entry| stayed(&entry)) { Signal::Kill } else { Signal::Term }
    }

    /// Returns the entry of an order that another machine has sent here.
    pub fn ordered(&self, id: &str) -> Option<&Entry> {
        let is_its = |entry: &&Entry| entry.intent.asked_by().is_some_and(|order| order.id == id);
        self.entries.iter().rev().find(is_its)
    }

    /// Returns the orders whose outcome is not known here.
    pub fn open_orders(&self) -> impl Iterator<Item = (&Entry, &OrderNote)> {
        let orders = self.entries.iter().filter_map(|entry| Some((entry, entry.intent.asked_of()?)));
        orders.filter(|(entry, _)| entry.outcome.is_none())
    }

    /// Returns the entry of a number.
    pub fn entry(&self, number: u64) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.number == number)
    }

    fn entry_mut(&mut self, number: u64) -> Option<&mut Entry> {
        self.entries.iter_mut().rev().find(|entry| entry.number == number)
    }

    /// Returns the folders outside of the state folder in which something was parked, the newest
    /// first.
    pub fn parked_folders(&self) -> Vec<&Path> {
        let mut folders: Vec<&Path> = Vec::new();
        let movements = self.entries.iter().rev().flat_map(|entry| &entry.intent.movements);
        for folder in movements.filter_map(Movement::parked).filter_map(|parked| parked.folder.as_deref()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// Returns the number of the next entry.
    pub(crate) fn next(&self) -> u64 {
        let known = self.entries.iter().map(|entry| entry.number).max().unwrap_or(0);
        known.max(self.unreadable_up_to) + 1
    }

    /// Returns the entries that followed one and can be undone, the newest first.
    pub(crate) fn followers(&self, number: u64) -> impl Iterator<Item = &Entry> {
        let newest_first = self.entries.iter().rev();
        newest_first.filter(move |entry| entry.intent.follows == Some(number) && entry.can_be_undone())
    }

    /// Returns whether an entry has anything to undo: one that only groups others has something only as long as they
    /// have.
    pub(crate) fn holds_anything(&self, entry: &Entry) -> bool {
        let mut held = self.entries.iter().filter(|other| other.intent.follows == Some(entry.number));
        let is_ended = |held: &Entry| !held.can_be_undone();
        !entry.intent.movements.is_empty() || !held.clone().all(is_ended) || held.next().is_none()
    }

    /// Returns the newest entry that was done and can be undone; of one action the first entry, which all others
    /// followed, and with which it is undone.
    pub fn newest_undoable(&self) -> Option<&Entry> {
        let newest = self
            .entries
            .iter()
            .rev()
            .find(|entry| entry.is_done() && entry.can_be_undone() && self.holds_anything(entry))?;
        let followed = newest.intent.follows.and_then(|number| self.entry(number));
        Some(followed.filter(|entry| entry.can_be_undone()).unwrap_or(newest))
    }

    /// Returns the newest entry that got stuck, and has left something parked that can be brought back.
    pub(crate) fn newest_stuck(&self) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.is_stuck() && entry.can_be_undone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_entry_that_a_later_claimtop_wrote_is_not_given_to_another_one() {
        let later = br#"{"entry":7,"at":"2026-11-20T09:00:00Z","intent":{"action":"fly","title":"","why":"","movements":[]}}
not even a line
{"entry":7,"at":"2026-11-20T09:00:00Z","outcome":{"ended":"done","detail":""}}"#;
        let history = History::read(later);
        assert_eq!((history.entries.len(), history.unreadable, history.next()), (0, 2, 8));
    }

    /// Returns a journal in which PID 7 was sent a signal, with the outcome.
    fn signalled(ended: Option<EndResult>) -> History {
        let intent = r#"{"entry":1,"at":"2026-11-20T09:00:00Z","intent":{"action":"stop","title":"","why":"","movements":[{"step":"stop","signal":"TERM","processes":[{"pid":7,"start_ticks":9,"parent":1,"name":"sleep","exe":"/bin/sleep","command":"sleep 1","folder":null,"environment":["HOME"]}]}]}}"#;
        let mut history = History::read(intent.as_bytes());
        if let Some(ended) = ended {
            history.finish(1, Outcome::new(ended, String::new()));
        }
        history
    }

    #[test]
    fn only_who_was_asked_to_end_and_stayed_is_killed() {
        let next = |history: &History, start_ticks| history.next_signal(ProcessId { pid: 7, start_ticks });
        assert_eq!(next(&signalled(Some(EndResult::Partly)), 9), Signal::Kill);
        assert_eq!(
            next(&signalled(Some(EndResult::Partly)), 10),
            Signal::Term,
            "another process by that PID"
        );
        for ended in [None, Some(EndResult::Done), Some(EndResult::Changed), Some(EndResult::Failed)] {
            assert_eq!(next(&signalled(ended), 9), Signal::Term, "{ended:?}");
        }
        assert!(!signalled(Some(EndResult::Done)).entries.first().is_some_and(Entry::can_be_undone));
    }
}
