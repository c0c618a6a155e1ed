//! Which edits of a file are open, by the lines of all sessions.
//!
//! An edit ends when a session finds the file as the last commit has it. It is open again if the file holds what it
//! held before that: a stash was brought back, or a commit was taken back.
//!

use std::cmp::Reverse;
use std::collections::HashMap;

use jiff::Timestamp;

use crate::core::model::Untrusted;
use crate::source::repos::objects::{Name, Short};
use crate::source::work::committed::EditFacts;

/// How many returns of a file are followed back.
const DEEPEST: usize = 4;

/// One edit of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EditEvent {
    pub(crate) at: Timestamp,
    /// The commit that was certainly checked out before, if that is written down.
    pub(super) upon: Option<Name>,
    /// What the file held then, if that is written down.
    pub(super) held: Option<Short>,
}

/// The edits of one session, by file.
pub(crate) type Edits = HashMap<Untrusted, Vec<EditEvent>>;

/// An edit that is open, if git does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) edit: EditEvent,
    /// When a session has found it open again.
    pub(super) again_at: Option<Timestamp>,
}

/// The recorded events of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    /// When it was seen as the last commit has it, or gone.
    pub(super) settled: Vec<Timestamp>,
    /// What it held after edits, if it ever was settled.
    pub(super) held: Vec<(Timestamp, Short)>,
    /// When it was seen to hold again what it held at an earlier moment.
    pub(super) returned: Vec<(Timestamp, Timestamp)>,
}

/// The recorded events of files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stories(pub(super) HashMap<Untrusted, Story>);

/// A time in which no edit of a file has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    after: Option<Timestamp>,
    until: Timestamp,
    again_at: Option<Timestamp>,
}

impl From<EditEvent> for Open {
    fn from(edit: EditEvent) -> Self {
        Self { edit, again_at: None }
    }
}

impl Open {
    /// Returns the facts to compare with git's files.
    pub(crate) fn known(&self) -> EditFacts {
        let Self { edit: EditEvent { upon, held, .. }, again_at } = *self;
        match again_at {
            Some(_) => EditFacts { open_at: again_at, ..EditFacts::default() },
            None => EditFacts { upon, held, open_at: None },
        }
    }
}

impl Stories {
    /// Adds when files were settled and returned, as another ledger has it.
    pub(crate) fn add(&mut self, other: &Self) {
        for (path, story) in &other.0 {
            let known = self.0.entry(path.clone()).or_default();
            known.settled.extend(&story.settled);
            known.returned.extend(&story.returned);
        }
    }

    /// Adds what files held that were ever settled.
    pub(crate) fn add_held(&mut self, edits: &Edits) {
        for (path, edits) in edits {
            if let Some(story) = self.0.get_mut(path) {
                story.held.extend(edits.iter().filter_map(|edit| Some((edit.at, edit.held?))));
            }
        }
    }

    /// Returns whether a file was ever settled.
    pub(super) fn has(&self, path: &Untrusted) -> bool {
        self.0.contains_key(path)
    }

    /// Returns whether a file was not seen as the last commit has it since a moment.
    pub(crate) fn is_open(&self, path: &Untrusted, at: Timestamp, now: Timestamp) -> bool {
        let settled = self.0.get(path).and_then(|story| story.settled_by(now));
        settled.is_none_or(|settled| at > settled)
    }

    /// Returns when a file was last seen as the last commit has it, up to a moment.
    pub(super) fn settled_by(&self, path: &Untrusted, moment: Timestamp) -> Option<Timestamp> {
        self.0.get(path)?.settled_by(moment)
    }

    /// Returns those of the files that may hold again what they held before they were settled, and when that was; at
    /// most the given number, those settled last.
    pub(crate) fn may_return<'a>(
        &self,
        files: impl Iterator<Item = &'a Untrusted>,
        (now, most): (Timestamp, usize),
    ) -> Vec<(&'a Untrusted, Timestamp)> {
        let may_return = |file| Some((file, self.0.get(file)?.may_return_since(now)?));
        let mut found: Vec<(&Untrusted, Timestamp)> = files.filter_map(may_return).collect();
        found.sort_unstable_by_key(|(file, settled)| (Reverse(*settled), *file));
        found.dedup();
        found.truncate(most);
        found
    }

    /// Returns the last of a session's edits of a file that is open, by what the file holds, if it may have returned.
    pub(crate) fn open(
        &self,
        path: &Untrusted,
        edits: &[EditEvent],
        (now, holds): (Timestamp, &HashMap<Untrusted, Short>),
    ) -> Option<Open> {
        match self.0.get(path) {
            Some(story) => last_open(edits, &story.spans(now, holds.get(path).copied())),
            // A line in the future was written before the clock was set back, and hides nothing since.
            None => edits.iter().copied().max_by_key(|edit| (edit.at <= now, edit.at)).map(Open::from),
        }
    }
}

impl Story {
    /// Returns when the file was last settled, up to a moment; a line in the future was written before the clock was
    /// set back.
    fn settled_by(&self, moment: Timestamp) -> Option<Timestamp> {
        self.settled.iter().copied().filter(|settled| *settled <= moment).max()
    }

    /// Returns when it was settled last, if it may hold again what it held before that.
    fn may_return_since(&self, now: Timestamp) -> Option<Timestamp> {
        let settled = self.settled_by(now)?;
        self.held.iter().any(|(at, _)| *at < settled).then_some(settled)
    }

    /// Returns the times whose edits are open; those before the file was settled only if it holds now what it held
    /// then.
    fn spans(&self, now: Timestamp, holds: Option<Short>) -> Vec<Span> {
        let mut spans = Vec::new();
        self.add_spans((now, None), DEEPEST, &mut spans);
        let is_held = |(at, name): &&(Timestamp, Short)| Some(*name) == holds && *at <= now;
        for (at, _) in self.held.iter().filter(is_held) {
            self.add_spans((*at, None), DEEPEST, &mut spans);
        }
        spans
    }

    /// Returns the last moment before the file was settled at which it held what it holds now.
    pub(super) fn returns_to(&self, now: Timestamp, holds: Short) -> Option<Timestamp> {
        let settled = self.settled_by(now)?;
        let is_that = |(at, name): &&(Timestamp, Short)| {
            *name == holds && *at < settled && self.settled_by(*at) != Some(*at)
        };
        self.held.iter().filter(is_that).map(|(at, _)| *at).max()
    }

    fn add_spans(&self, (until, again_at): (Timestamp, Option<Timestamp>), depth: usize, to: &mut Vec<Span>) {
        let after = self.settled_by(until);
        let span = Span { after, until, again_at };
        if depth == 0 || after == Some(until) || to.contains(&span) {
            return;
        }
        to.push(span);
        for (at, earlier) in self.returned.iter().filter(|(at, earlier)| span.has(*at) && earlier < at) {
            self.add_spans((*earlier, again_at.or(Some(*at))), depth - 1, to);
        }
    }
}

impl Span {
    fn has(&self, at: Timestamp) -> bool {
        at <= self.until && self.after.is_none_or(|after| at > after)
    }
}

/// Returns the last of a session's edits that is in any of the spans.
fn last_open(edits: &[EditEvent], spans: &[Span]) -> Option<Open> {
    let open = |edit: &EditEvent| {
        let span = spans.iter().find(|span| span.has(edit.at))?;
        Some(Open { edit: *edit, again_at: span.again_at })
    };
    edits.iter().filter_map(open).max_by_key(|open| open.edit.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// Asks at 100 s about a file with these edits, when it was settled and what it had returned to.
    fn open(
        held: &[(i64, Short)],
        settled: &[i64],
        returned: &[(i64, i64)],
        holds: Short,
    ) -> Vec<(i64, Option<i64>)> {
        let story = Story {
            settled: settled.iter().map(|settled| at(*settled)).collect(),
            held: held.iter().map(|(second, number)| (at(*second), *number)).collect(),
            returned: returned.iter().map(|(when, to)| (at(*when), at(*to))).collect(),
        };
        let spans = story.spans(at(100), Some(holds));
        let edit =
            |(second, number): &(i64, Short)| EditEvent { at: at(*second), upon: None, held: Some(*number) };
        let open = held.iter().filter_map(|one| last_open(&[edit(one)], &spans));
        open.map(|open| (open.edit.at.as_second(), open.again_at.map(Timestamp::as_second))).collect()
    }

    #[test]
    fn what_was_settled_is_open_again_where_the_file_holds_it_again() {
        let edits = [(10, 1), (20, 2), (30, 3)];
        let none: &[(i64, Option<i64>)] = &[];
        assert_eq!(open(&edits, &[], &[], 9), [(10, None), (20, None), (30, None)]);
        assert_eq!(open(&edits, &[25], &[], 9), [(30, None)]);
        assert_eq!(open(&edits, &[40], &[], 9), none);
        assert_eq!(open(&edits, &[40], &[], 3), [(10, None), (20, None), (30, None)]);
        assert_eq!(open(&edits, &[40], &[], 2), [(10, None), (20, None)]);
        assert_eq!(open(&edits, &[15, 40], &[], 2), [(20, None)]);
        // What was settled by its own edit never was open.
        assert_eq!(open(&edits, &[30], &[], 3), none);
        assert_eq!(open(&edits, &[40, 200], &[], 9), none, "in the future");
    }

    #[test]
    fn an_edit_in_the_future_hides_none() {
        let last = |edits: &[i64]| {
            let edits: Vec<EditEvent> =
                edits.iter().map(|second| EditEvent { at: at(*second), upon: None, held: None }).collect();
            let open = Stories::default().open(&"/w/a".into(), &edits, (at(100), &HashMap::new()));
            open.map(|open| open.edit.at.as_second())
        };
        assert_eq!(last(&[10, 3_700, 90]), Some(90));
        assert_eq!(last(&[3_700]), Some(3_700));
    }

    #[test]
    fn what_has_returned_stays_open_under_later_edits() {
        let edits = [(10, 1), (30, 3)];
        assert_eq!(open(&edits, &[20], &[(25, 10)], 3), [(10, Some(25)), (30, None)]);
        assert_eq!(open(&edits, &[20, 40], &[(25, 10)], 9), []);
        assert_eq!(open(&edits, &[20, 40], &[(25, 10)], 3), [(10, Some(25)), (30, None)]);
        assert_eq!(open(&edits, &[20], &[(25, 25), (26, 30)], 3), [(30, None)], "never forwards");
    }
}
