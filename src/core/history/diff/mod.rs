//! The comparison of two looks, kind by kind.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::core::history::change::{Change, Kind};
use crate::core::history::subject::{Subject, of_claim, of_finding, of_record, of_window};
use crate::core::model::{ClaimView, Code, Finding, Key, RecordView, Report, WindowView};

/// Returns what changed from one look to the next; without an earlier look everything that is
/// there appears.
pub(crate) fn diff(before: Option<&Report>, now: &Report) -> Vec<Change> {
    let mut subjects = Vec::new();
    things(before.map_or(&[], |report| &report.windows), &now.windows, &WINDOWS, &mut subjects);
    things(before.map_or(&[], |report| &report.records), &now.records, &RECORDS, &mut subjects);
    claims(before.map_or(&[], |report| &report.claims), &now.claims, &mut subjects);
    findings(before.map_or(&[], |report| &report.findings), &now.findings, &mut subjects);
    subjects.into_iter().map(|(event, subject)| Change { at: now.taken_at, event, subject }).collect()
}

type Changes = Vec<(Kind, Subject)>;

/// What is told of things that come, change and go.
struct Sort<T> {
    key: fn(&T) -> &Key,
    /// Whether one says something else than before.
    has_changed: fn(&T, &T) -> bool,
    subject: fn(&T) -> Subject,
    appeared: Kind,
    changed: Kind,
    gone: Kind,
}

const WINDOWS: Sort<WindowView> = Sort {
    key: |window| &window.key,
    has_changed: has_moved,
    subject: of_window,
    appeared: Kind::WindowAppeared,
    changed: Kind::WindowChanged,
    gone: Kind::WindowGone,
};

const RECORDS: Sort<Arc<RecordView>> = Sort {
    key: |record| &record.key,
    has_changed: |before, now| is_changed(before, now),
    subject: |record| of_record(record),
    appeared: Kind::RecordAppeared,
    changed: Kind::RecordChanged,
    gone: Kind::RecordGone,
};

/// Leaves out what stands at both ends of two lists alike: mostly that is all.
fn apart<'a, T>(before: &'a [T], now: &'a [T], is_same: impl Fn(&T, &T) -> bool) -> (&'a [T], &'a [T]) {
    let alike = |pair: &(&T, &T)| is_same(pair.0, pair.1);
    let head = before.iter().zip(now).take_while(alike).count();
    let (before, now) = (before.get(head..).unwrap_or_default(), now.get(head..).unwrap_or_default());
    let tail = before.iter().rev().zip(now.iter().rev()).take_while(alike).count();
    let without = |list: &'a [T]| list.get(..list.len() - tail).unwrap_or_default();
    (without(before), without(now))
}

fn things<T>(before: &[T], now: &[T], sort: &Sort<T>, changes: &mut Changes) {
    let is_same =
        |one: &T, other: &T| (sort.key)(one) == (sort.key)(other) && !(sort.has_changed)(one, other);
    let (before, now) = apart(before, now, is_same);
    let earlier = by_key(before, sort.key);
    let later = by_key(now, sort.key);
    let gone = before.iter().filter(|one| !later.contains_key((sort.key)(one)));
    changes.extend(gone.map(|one| (sort.gone, (sort.subject)(one))));
    for one in now {
        match earlier.get((sort.key)(one)) {
            None => changes.push((sort.appeared, (sort.subject)(one))),
            Some(other) if (sort.has_changed)(other, one) => {
                changes.push((sort.changed, (sort.subject)(one)))
            }
            Some(_) => {}
        }
    }
}

/// What an agent says of itself and its load change all the time, and nothing follows from it.
fn has_moved(before: &WindowView, now: &WindowView) -> bool {
    before.state != now.state
        || before.session_id != now.session_id
        || before.cwd != now.cwd
        || before.context_id != now.context_id
}

/// Evidence carries times of its own and says nothing that verdict and file do not.
fn is_changed(before: &RecordView, now: &RecordView) -> bool {
    before.verdict.state != now.verdict.state
        || before.verdict.reason != now.verdict.reason
        || before.written_at != now.written_at
        || before.session_id != now.session_id
        || before.window != now.window
        || before.has_ended != now.has_ended
        || before.is_stale != now.is_stale
}

fn claims(before: &[ClaimView], now: &[ClaimView], changes: &mut Changes) {
    let is_same = |one: &ClaimView, other: &ClaimView| one.key == other.key && one.status == other.status;
    let (before, now) = apart(before, now, is_same);
    let earlier = by_key(before, |claim| &claim.key);
    let later = by_key(now, |claim| &claim.key);
    for gone in before.iter().filter(|claim| !later.contains_key(&claim.key)) {
        changes.push((Kind::ClaimChanged, of_claim(gone, None, Some(gone.status))));
    }
    for claim in now {
        let was = earlier.get(&claim.key).map(|other| other.status);
        if was != Some(claim.status) {
            changes.push((Kind::ClaimChanged, of_claim(claim, Some(claim.status), was)));
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

/// Returns the findings that others do not have.
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
