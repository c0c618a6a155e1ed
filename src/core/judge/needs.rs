//! What needs a person: who waits, who is in whose way, and what the dead left.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::judge::world::World;
use crate::core::model::{
    ClaimStatus, ClaimView, ClaudeCode, Code, Committed, Finding, Judged, Key, KeyKind, Left, Need, NeedKind,
    Record, RecordDetail, RecordKind, RecordView, Severity, Untrusted, VerdictState, Waiting, Wants,
    WindowView, Work,
};

/// The most dead windows that are told one by one.
const MOST_DEAD: usize = 5;

/// Tells what needs a person, the most harmful first.
pub(crate) fn needs(
    world: &World<'_>,
    (windows, records): (&[WindowView], &[Judged]),
    claims: &[ClaimView],
    findings: &[Arc<Finding>],
) -> Vec<Need> {
    let mut waits: Vec<Need> = windows.iter().filter_map(waits).collect();
    waits.sort_by_key(|need| (need.since.is_none(), need.since));
    let mut dead = dead(world, records, claims);
    dead.sort_by_key(|need| Reverse(need.since));
    let more = dead.split_off(dead.len().min(MOST_DEAD));
    waits.into_iter().chain(collisions(findings)).chain(dead).chain(merged(&more)).collect()
}

fn need(subject: &Key, what: &str, kind: NeedKind, since: Option<Timestamp>) -> Need {
    let key = Key::derive(KeyKind::Need, &[what, subject.as_str()]);
    Need { key, subject: subject.clone(), kind, since }
}

fn waits(window: &WindowView) -> Option<Need> {
    let waiting = window.waiting.clone()?;
    let since = waiting.since;
    Some(need(&window.key, "waits", NeedKind::Waits { waiting }, since))
}

/// Tells every collision; that two share a tree is left out where they also edit the same files.
fn collisions(findings: &[Arc<Finding>]) -> impl Iterator<Item = Need> {
    let overlaps = findings.iter().filter(|finding| finding.code == Code::OverlappingFiles);
    let overlaps: BTreeSet<&[Key]> = overlaps.map(|finding| finding.subjects.as_slice()).collect();
    let worse = move |finding: &Finding| {
        let is_place = matches!(finding.code, Code::SameWorktree | Code::SameFolder);
        is_place && overlaps.contains(finding.subjects.as_slice())
    };
    let collisions = findings.iter().filter(|finding| finding.severity == Severity::Collision);
    collisions.filter(move |finding| !worse(finding)).filter_map(|finding| {
        let kind = NeedKind::Collision {
            code: finding.code,
            message: finding.message.clone(),
            subjects: finding.subjects.clone(),
        };
        let began = finding.story.as_ref().and_then(|story| story.events.last()?.at);
        Some(need(finding.subjects.first()?, &all_of(finding), kind, began))
    })
}

/// Names a finding by its code and everything that it is about.
fn all_of(finding: &Finding) -> String {
    let subjects = finding.subjects.iter().map(Key::as_str);
    std::iter::once(finding.code.name()).chain(subjects).collect::<Vec<_>>().join(" ")
}

/// Tells which windows have gone and left something, each once, whatever records speak of it.
fn dead(world: &World<'_>, records: &[Judged], claims: &[ClaimView]) -> Vec<Need> {
    let living: BTreeSet<&Untrusted> = records
        .iter()
        .filter(|record| record.verdict.state != VerdictState::Dead || record.lives_in.is_some())
        .filter_map(|record| record.session_id.as_ref())
        .collect();
    let mut windows: BTreeMap<&Untrusted, Vec<&Judged>> = BTreeMap::new();
    let is_dead = |record: &&Judged| record.verdict.state == VerdictState::Dead && record.lives_in.is_none();
    for record in records.iter().filter(is_dead) {
        let who = record.session_id.as_ref().or(record.context_id.as_ref());
        if let Some(who) = who.filter(|who| !living.contains(who)) {
            windows.entry(who).or_default().push(record);
        }
    }
    let mut held: BTreeMap<&Key, Vec<&ClaimView>> = BTreeMap::new();
    for claim in claims.iter().filter(|claim| claim.status == ClaimStatus::Dead) {
        held.entry(&claim.record.key).or_default().push(claim);
    }
    windows.into_iter().filter_map(|(who, records)| died(world, who, &records, &held)).collect()
}

fn died(
    world: &World<'_>,
    who: &Untrusted,
    records: &[&Judged],
    held: &BTreeMap<&Key, Vec<&ClaimView>>,
) -> Option<Need> {
    let rank = |record: &&&Judged| (record.kind != RecordKind::Session, Reverse(record.written_at));
    let told: &RecordView = records.iter().min_by_key(rank)?;
    let claims: Vec<Key> = records
        .iter()
        .filter_map(|record| held.get(&record.key))
        .flatten()
        .map(|claim| claim.key.clone())
        .collect();
    let work = world.snapshot.work.iter().find(|work| work.session == *who);
    let uncommitted = work.map_or(0, uncommitted);
    if claims.is_empty() && uncommitted == 0 {
        return None;
    }
    let left = Left {
        name: told.title.clone(),
        session: told.session_id.clone(),
        format: told.format.name(),
        cwd: told.cwd.as_ref().map(|cwd| cwd.text().clone()),
        claims,
        uncommitted,
    };
    // When it was proven dead, or the last that it wrote.
    let proven = world.tombstone_of(who).map(|stone| stone.proven_at);
    let last = records.iter().map(|record| record.heartbeat_at.unwrap_or(record.written_at)).max();
    Some(need(&told.key, "died", NeedKind::Died(left), proven.or(last)))
}

fn uncommitted(work: &Work) -> usize {
    work.doing.edits.iter().filter(|edit| edit.committed == Committed::No).count()
}

fn merged(more: &[Need]) -> Option<Need> {
    let first = more.first()?;
    let claims = more.iter().map(|need| match &need.kind {
        NeedKind::Died(left) => left.claims.len(),
        NeedKind::Waits { .. } | NeedKind::Collision { .. } | NeedKind::MoreDied { .. } => 0,
    });
    let kind = NeedKind::MoreDied { windows: more.len(), claims: claims.sum() };
    Some(need(&first.subject, "more", kind, first.since))
}

/// Returns what a window waits for, as its agent's registry says, and the call that it asks about.
pub(crate) fn waiting(registry: Option<&Record>, work: Option<&Work>) -> Option<Waiting> {
    let RecordDetail::ClaudeCode(ClaudeCode::Session { status, waiting_for, updated_at }) = &registry?.detail
    else {
        return None;
    };
    status.as_ref().filter(|status| status.raw() == "waiting")?;
    let wants = match waiting_for.as_ref().map(Untrusted::raw) {
        Some("permission prompt") => Wants::Permission,
        Some("input needed") => Wants::Answer,
        Some(other) => Wants::Other(other.into()),
        None => Wants::Answer,
    };
    // A transcript that has not been written since is of before.
    let call = work.and_then(|work| work.doing.calls.last()).cloned();
    Some(Waiting { wants, call, since: *updated_at })
}
