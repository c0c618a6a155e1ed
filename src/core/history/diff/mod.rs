//! The comparison of two looks, kind by kind.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::history::change::{Change, Kind};
use crate::core::history::first_told::has_told;
use crate::core::history::gone::Names;
use crate::core::history::subject::{Subject, WindowTurn, of_claim, of_finding, of_record, of_window};
use crate::core::model::{ClaimView, Code, Finding, Key, RecordView, Report, WindowState, WindowView};

/// Returns what changed from one look to the next; without an earlier look everything that is
/// there appears.
pub(crate) fn diff(before: Option<&Report>, now: &Report) -> Vec<Change> {
    let mut subjects = Vec::new();
    let windows = before.map_or(&[][..], |report| &report.windows);
    let names = Names::compare(before.unwrap_or(now), now);
    let gone = |window: &WindowView| {
        let is_elsewhere = names.find(&window.key, &now.windows).is_some();
        (!is_elsewhere).then(|| gone(window, names.proof(&window.key).is_some()))
    };
    let is_new = |window: &WindowView| names.find(&window.key, windows).is_none();
    things((windows, &now.windows), &Sort { gone: &gone, is_new: &is_new, ..WINDOWS }, &mut subjects);
    waits((windows, &now.windows), &names, &mut subjects);
    things((before.map_or(&[], |report| &report.records), &now.records), &RECORDS, &mut subjects);
    claims(before, now, &mut subjects);
    findings(before.map_or(&[], |report| &report.findings), &now.findings, &mut subjects);
    // What changes without another look at this machine comes from other machines.
    let is_looked = before.is_none_or(|before| before.taken_at != now.taken_at);
    let at = |things: &[Key]| if is_looked { now.moment_of(things) } else { now.told_at() };
    let change = |(event, subject): (Kind, Subject)| {
        let things = subject.keys();
        let unseen = went(event, &subject) && things.iter().any(|key| is_out_of_sight(key, now));
        Change { at: at(&things), event, unseen, subject }
    };
    let mut changes: Vec<Change> = subjects.into_iter().map(change).collect();
    changes.sort_by_key(|change| change.at);
    changes
}

/// Returns whether an event means that something other than a window is gone.
fn went(event: Kind, subject: &Subject) -> bool {
    matches!(event, Kind::RecordGone | Kind::FindingCleared)
        || matches!(subject, Subject::Claim { status: None, .. })
}

/// Returns whether the machine of a subject sends no data.
fn is_out_of_sight(thing: &Key, now: &Report) -> bool {
    let tells = |name| now.machines.iter().any(|machine| machine.name == name && has_told(machine));
    thing.machine().is_some_and(|name| !tells(name))
}

type Changes = Vec<(Kind, Subject)>;

/// How one kind of thing is reported when it comes, changes and goes.
#[derive(Clone, Copy)]
struct Sort<'a, T> {
    key: fn(&T) -> &Key,
    /// Whether a thing differs from before.
    has_changed: fn(&T, &T) -> bool,
    /// What is reported of a thing that is there, given its earlier state.
    subject: fn(Option<&T>, &T) -> Subject,
    /// What is reported of a thing that is gone, if anything.
    gone: &'a dyn Fn(&T) -> Option<(Kind, Subject)>,
    /// Whether a thing that was not there before is reported.
    is_new: &'a dyn Fn(&T) -> bool,
    events: [Kind; 2],
}

const WINDOWS: Sort<'_, WindowView> = Sort {
    key: |window| &window.key,
    has_changed: |before, now| turn(before, now).is_some(),
    subject: |before, now| of_window(now, before.and_then(|before| turn(before, now)).unwrap_or_default()),
    gone: &|window| Some(gone(window, false)),
    is_new: &|_| true,
    events: [Kind::WindowAppeared, Kind::WindowChanged],
};

/// Reports a window that is gone: only a proof shows that it has died.
fn gone(window: &WindowView, is_proven: bool) -> (Kind, Subject) {
    match is_proven {
        true => (Kind::WindowGone, of_window(window, WindowTurn::Died)),
        false => (Kind::WindowUnseen, of_window(window, WindowTurn::Unseen)),
    }
}

const RECORDS: Sort<'_, Arc<RecordView>> = Sort {
    key: |record| &record.key,
    has_changed: |before, now| is_changed(before, now),
    subject: |before, now| {
        let was = before.map(|before| before.verdict.state).filter(|was| *was != now.verdict.state);
        of_record(now, was)
    },
    gone: &|record| Some((Kind::RecordGone, of_record(record, None))),
    is_new: &|_| true,
    events: [Kind::RecordAppeared, Kind::RecordChanged],
};

/// Leaves out equal items at both ends of two lists: usually that is everything.
fn apart<'a, T>(before: &'a [T], now: &'a [T], is_same: impl Fn(&T, &T) -> bool) -> (&'a [T], &'a [T]) {
    let alike = |pair: &(&T, &T)| is_same(pair.0, pair.1);
    let head = before.iter().zip(now).take_while(alike).count();
    let (before, now) = (before.get(head..).unwrap_or_default(), now.get(head..).unwrap_or_default());
    let tail = before.iter().rev().zip(now.iter().rev()).take_while(alike).count();
    let without = |list: &'a [T]| list.get(..list.len() - tail).unwrap_or_default();
    (without(before), without(now))
}

fn things<T>((before, now): (&[T], &[T]), sort: &Sort<'_, T>, changes: &mut Changes) {
    let is_same =
        |one: &T, other: &T| (sort.key)(one) == (sort.key)(other) && !(sort.has_changed)(one, other);
    let (before, now) = apart(before, now, is_same);
    let earlier = by_key(before, sort.key);
    let later = by_key(now, sort.key);
    let [appeared, changed] = sort.events;
    let gone = before.iter().filter(|one| !later.contains_key((sort.key)(one)));
    changes.extend(gone.filter_map(|one| (sort.gone)(one)));
    for one in now {
        match earlier.get((sort.key)(one)) {
            None if (sort.is_new)(one) => changes.push((appeared, (sort.subject)(None, one))),
            Some(other) if (sort.has_changed)(other, one) => {
                changes.push((changed, (sort.subject)(Some(other), one)));
            }
            None | Some(_) => {}
        }
    }
}

/// Returns what a window did. An agent's own status and its load change all the time, and have no consequence.
fn turn(before: &WindowView, now: &WindowView) -> Option<WindowTurn> {
    if before.state != now.state {
        let is_stopped = now.state == WindowState::Stopped;
        return Some(if is_stopped { WindowTurn::Stopped } else { WindowTurn::Continued });
    }
    if before.session_id != now.session_id {
        return Some(WindowTurn::Session);
    }
    if before.cwd != now.cwd || before.context_id != now.context_id {
        return Some(WindowTurn::Moved);
    }
    (before.waiting.is_some() && now.waiting.is_none()).then_some(WindowTurn::Answered)
}

/// Reports each wait once, however long it lasts.
fn waits((before, now): (&[WindowView], &[WindowView]), names: &Names<'_>, changes: &mut Changes) {
    let is_same =
        |one: &WindowView, other: &WindowView| one.key == other.key && waits_since(one) == waits_since(other);
    let (before, now) = apart(before, now, is_same);
    let known = by_key(before, |window| &window.key);
    let is_known = |window: &WindowView| {
        let earlier = known.get(&window.key).copied().or_else(|| names.find(&window.key, before));
        earlier.is_some_and(|earlier| waits_since(earlier) == waits_since(window))
    };
    let new = now.iter().filter(|window| window.waiting.is_some() && !is_known(window));
    changes.extend(new.map(|window| (Kind::WindowWaits, of_window(window, WindowTurn::Runs))));
}

fn waits_since(window: &WindowView) -> Option<Option<Timestamp>> {
    window.waiting.as_ref().map(|waiting| waiting.since)
}

/// Evidence carries times of its own and adds nothing to verdict and file.
fn is_changed(before: &RecordView, now: &RecordView) -> bool {
    before.verdict.state != now.verdict.state
        || before.verdict.reason != now.verdict.reason
        || before.written_at != now.written_at
        || before.session_id != now.session_id
        || before.window != now.window
        || before.has_ended != now.has_ended
        || before.is_stale != now.is_stale
}

fn claims(earlier: Option<&Report>, later: &Report, changes: &mut Changes) {
    let is_same = |one: &ClaimView, other: &ClaimView| one.key == other.key && one.status == other.status;
    let (before, now) = apart(earlier.map_or(&[], |report| &report.claims), &later.claims, is_same);
    let known = by_key(before, |claim| &claim.key);
    let here = by_key(now, |claim| &claim.key);
    let windows = earlier.map_or(&[][..], |report| &report.windows);
    for gone in before.iter().filter(|claim| !here.contains_key(&claim.key)) {
        changes.push((Kind::ClaimChanged, of_claim(gone, windows, (None, Some(gone.status)))));
    }
    for claim in now {
        let was = known.get(&claim.key).map(|other| other.status);
        if was != Some(claim.status) {
            let subject = of_claim(claim, &later.windows, (Some(claim.status), was));
            changes.push((Kind::ClaimChanged, subject));
        }
    }
}

/// A problem is the same for as long as code and subjects are: its message may count seconds.
fn findings(before: &[Arc<Finding>], now: &[Arc<Finding>], changes: &mut Changes) {
    let is_same = |one: &Arc<Finding>, other: &Arc<Finding>| one.identity() == other.identity();
    let (before, now) = apart(before, now, is_same);
    let cleared = missing(before, now).map(|finding| (Kind::FindingCleared, of_finding(finding)));
    changes.extend(cleared);
    let raised = missing(now, before).map(|finding| (Kind::FindingRaised, of_finding(finding)));
    changes.extend(raised);
}

/// Returns the findings that the other list does not have.
fn missing<'a>(
    findings: &'a [Arc<Finding>],
    others: &'a [Arc<Finding>],
) -> impl Iterator<Item = &'a Arc<Finding>> {
    let mut known: Vec<Identity<'_>> = others.iter().map(|one| identity(one)).collect();
    known.sort_unstable();
    findings.iter().filter(move |finding| known.binary_search(&identity(finding)).is_err())
}

/// The code, and the subjects in their order.
type Identity<'a> = (Code, Cow<'a, [Key]>);

fn identity(finding: &Finding) -> Identity<'_> {
    let mut subjects = Cow::Borrowed(&*finding.subjects);
    if !subjects.is_sorted() {
        subjects.to_mut().sort_unstable();
    }
    (finding.code, subjects)
}

fn by_key<T>(all: &[T], key: impl Fn(&T) -> &Key) -> BTreeMap<Key, &T> {
    all.iter().map(|one| (key(one).clone(), one)).collect()
}
