//! The observed changes, one after the other, as far back as there is room for.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::core::history::change::{Change, Kind};
use crate::core::model::{Key, Severity};

/// How many changes are kept in memory.
pub(crate) const MOST: usize = 4_096;

/// How many keys a change keeps. Most are about one or two things; a flood is about thousands.
const MOST_KEYS: usize = 64;

/// The span of recent changes.
pub(crate) const LATELY: SignedDuration = SignedDuration::from_mins(10);

/// One change as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// When the look that showed it was finished.
    pub(crate) at: Timestamp,
    pub(crate) event: Kind,
    /// Its subjects: keys of windows, records and claims, the first 64.
    pub(crate) keys: Vec<Key>,
    /// The severity of a finding; `None` for other changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) severity: Option<Severity>,
    /// The same in one line for people, already safe to show.
    pub(crate) told: String,
}

impl Past {
    /// Keeps a change with its message.
    pub(crate) fn new(change: &Change, told: String) -> Self {
        let subject = &change.subject;
        Self {
            at: change.at,
            event: change.event,
            keys: subject.keys().iter().take(MOST_KEYS).cloned().collect(),
            severity: subject.severity(),
            told,
        }
    }
}

/// Changes in their order, the newest last; the oldest leave when there is no more room.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    past: VecDeque<Arc<Past>>,
    /// How many have left.
    gone: u64,
}

impl Timeline {
    /// Adds what happened last.
    pub(crate) fn add(&mut self, past: impl IntoIterator<Item = Arc<Past>>) {
        self.past.extend(past);
        let surplus = self.past.len().saturating_sub(MOST);
        self.past.drain(..surplus);
        self.gone += surplus as u64;
    }

    /// Puts changes kept elsewhere before everything else, as far as there is room.
    pub(crate) fn remember(&mut self, earlier: Vec<Past>) {
        let first = self.past.front().map(|past| past.at);
        let earlier = earlier.into_iter().filter(|past| first.is_none_or(|first| past.at < first));
        let mut all: VecDeque<Arc<Past>> = earlier.map(Arc::new).collect();
        all.extend(self.past.drain(..));
        self.past = all;
        self.add([]);
    }

    /// Returns all changes up to a moment with their numbers, the newest first.
    pub(crate) fn until(&self, moment: Timestamp) -> impl Iterator<Item = (u64, &Past)> {
        let first = self.gone;
        let all = self.past.iter().enumerate().rev().filter(move |(_, past)| past.at <= moment);
        all.map(move |(at, past)| (first + at as u64, &**past))
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Past> {
        let at = usize::try_from(number.checked_sub(self.gone)?).ok()?;
        self.past.get(at).map(|past| &**past)
    }

    /// Returns the changes of one thing up to a moment, the newest first.
    pub(crate) fn entries_of(&self, key: &Key, moment: Timestamp) -> impl Iterator<Item = &Past> {
        self.until(moment).map(|(_, past)| past).filter(move |past| past.keys.contains(key))
    }

    /// Returns the changes of the last [`LATELY`], the newest first.
    pub(crate) fn lately(&self, now: Timestamp) -> impl Iterator<Item = &Past> {
        self.until(now).map(|(_, past)| past).take_while(move |past| now.duration_since(past.at) <= LATELY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(second: i64) -> Past {
        let at = Timestamp::from_second(second).unwrap();
        let (keys, told) = (vec![Key::typed("w-1")], second.to_string());
        Past { at, event: Kind::WindowAppeared, keys, severity: None, told }
    }

    fn filled(seconds: std::ops::Range<i64>) -> Timeline {
        let mut timeline = Timeline::default();
        timeline.add(seconds.map(|second| Arc::new(past(second))));
        timeline
    }

    #[test]
    fn the_oldest_leave_and_numbers_stay() {
        let mut timeline = filled(0..4_096);
        assert_eq!(timeline.get(0).map(|past| past.told.as_str()), Some("0"));
        timeline.add([Arc::new(past(5_000))]);
        assert_eq!(timeline.get(0), None);
        assert_eq!(timeline.get(1).map(|past| past.told.as_str()), Some("1"));
        assert_eq!(timeline.until(Timestamp::MAX).next().map(|(number, _)| number), Some(4_096));
        assert_eq!(timeline.entries_of(&Key::typed("w-1"), Timestamp::MAX).count(), MOST);
        assert_eq!(timeline.entries_of(&Key::typed("w-2"), Timestamp::MAX).count(), 0);
    }

    #[test]
    fn lately_is_ten_minutes() {
        let timeline = filled(0..1_000);
        let now = Timestamp::from_second(1_300).unwrap();
        assert_eq!(timeline.lately(now).map(|past| past.at.as_second()).last(), Some(700));
    }

    #[test]
    fn what_was_kept_comes_before_what_was_seen() {
        let mut timeline = filled(10..12);
        timeline.remember(vec![past(3), past(11)]);
        let seconds: Vec<i64> = timeline.until(Timestamp::MAX).map(|(_, past)| past.at.as_second()).collect();
        assert_eq!(seconds, [11, 10, 3]);
    }
}
