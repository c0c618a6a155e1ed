//! The comparison of two looks, kind by kind.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::subject::{Subject, of_claim, of_finding, of_record, of_window};
use super::{Change, Kind};
use crate::core::finding::{Code, Finding};
use crate::core::key::Key;
use crate::core::report::{ClaimView, RecordView, Report, WindowView};

/// Returns what changed from one look to the next; without an earlier look everything that is
/// there appears.
pub fn diff(before: Option<&Report>, now: &Report) -> Vec<Change> {
    let mut subjects = Vec::new();
    windows(before.map_or(&[], |report| &report.windows), &now.windows, &mut subjects);
    records(before.map_or(&[], |report| &report.records), &now.records, &mut subjects);
    claims(before.map_or(&[], |report| &report.claims), &now.claims, &mut subjects);
    findings(before.map_or(&[], |report| &report.findings), &now.findings, &mut subjects);
    subjects.into_iter().map(|(event, subject)| Change { at: now.taken_at, event, subject }).collect()
}

type Told = Vec<(Kind, Subject)>;

fn windows(before: &[WindowView], now: &[WindowView], told: &mut Told) {
    let earlier = by_key(before, |window| &window.key);
    let later = by_key(now, |window| &window.key);
    for gone in before.iter().filter(|window| !later.contains_key(&window.key)) {
        told.push((Kind::WindowGone, of_window(gone)));
    }
    for window in now {
        match earlier.get(&window.key) {
            None => told.push((Kind::WindowAppeared, of_window(window))),
            Some(other) if has_moved(other, window) => told.push((Kind::WindowChanged, of_window(window))),
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

fn records(before: &[RecordView], now: &[RecordView], told: &mut Told) {
    let earlier = by_key(before, |record| &record.key);
    let later = by_key(now, |record| &record.key);
    for gone in before.iter().filter(|record| !later.contains_key(&record.key)) {
        told.push((Kind::RecordGone, of_record(gone)));
    }
    for record in now {
        match earlier.get(&record.key) {
            None => told.push((Kind::RecordAppeared, of_record(record))),
            Some(other) if is_changed(other, record) => told.push((Kind::RecordChanged, of_record(record))),
            Some(_) => {}
        }
    }
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

fn claims(before: &[ClaimView], now: &[ClaimView], told: &mut Told) {
    let earlier = by_key(before, |claim| &claim.key);
    let later = by_key(now, |claim| &claim.key);
    for gone in before.iter().filter(|claim| !later.contains_key(&claim.key)) {
        told.push((Kind::ClaimChanged, of_claim(gone, None, Some(gone.status))));
    }
    for claim in now {
        let was = earlier.get(&claim.key).map(|other| other.status);
        if was != Some(claim.status) {
            told.push((Kind::ClaimChanged, of_claim(claim, Some(claim.status), was)));
        }
    }
}

/// A problem is the same for as long as code and subjects are: its message may count seconds.
fn findings(before: &[Finding], now: &[Finding], told: &mut Told) {
    let cleared = missing(before, now).map(|finding| (Kind::FindingCleared, of_finding(finding)));
    told.extend(cleared);
    let raised = missing(now, before).map(|finding| (Kind::FindingRaised, of_finding(finding)));
    told.extend(raised);
}

/// Returns the findings that others do not have.
fn missing<'a>(findings: &'a [Finding], others: &'a [Finding]) -> impl Iterator<Item = &'a Finding> {
    let mut known: Vec<Identity<'_>> = others.iter().map(identity).collect();
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
