//! Edits of windows that no commit holds: the claims on files that their own transcripts state.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::core::judge::world::World;
use crate::core::model::report::claim::is_uuid_only;
use crate::core::model::snapshot::work::TRANSCRIPT;
use crate::core::model::{
    ClaimStatus, ClaimView, Edit, Format, JudgedRecord, Key, KeyKind, Location, LostWork, Ownership, Reason,
    Record, RecordKind, RecordView, Resource, ResourceKind, Role, StatedClaim, Strength, Surface,
    SurfaceState, Untrusted, Verdict, VerdictState, WindowState, WindowView, Work,
};

/// Returns the work of a window whose session is not a guess.
pub(crate) fn certain_work(window: &WindowView) -> Option<&Work> {
    let is_certain = window.session.as_ref().is_some_and(|session| session.strength > Strength::Guess);
    window.work.as_deref().filter(|_| is_certain)
}

/// Returns the edits that no commit holds.
pub(crate) fn uncommitted(work: &Work) -> impl Iterator<Item = &Edit> {
    work.doing.edits.iter().filter(|edit| edit.is_open())
}

/// Returns a claim for each living window that has edited files, unless commits hold them all, and for each window
/// that died with edits that no commit holds.
pub(crate) fn claims(world: &World<'_>, windows: &[WindowView], records: &[JudgedRecord]) -> Vec<ClaimView> {
    let uid = world.snapshot.host.uid;
    let live = windows.iter().filter_map(|window| of_living(window, records, uid));
    let dead = of_dead(world, windows, records).filter_map(|(work, last)| {
        uncommitted(work).next()?;
        Some(claim(last, work, SurfaceState::Agrees, (None, ClaimStatus::Dead)))
    });
    live.chain(dead).collect()
}

/// Returns what sessions have edited, and may have lost, that only proven dead processes ran.
pub(crate) fn lost_by_the_dead(
    world: &World<'_>,
    windows: &[WindowView],
    records: &[JudgedRecord],
) -> Vec<LostWork> {
    let dead = of_dead(world, windows, records).filter(|(work, _)| work.has_edits());
    let lost = dead.map(|(work, last)| LostWork {
        key: last.key.clone(),
        name: if is_uuid_only(last.title.raw()) { "a window".into() } else { last.title.clone() },
        work: Arc::clone(work),
    });
    lost.collect()
}

fn of_living(window: &WindowView, records: &[JudgedRecord], uid: u32) -> Option<ClaimView> {
    let work = certain_work(window).filter(|_| window.state != WindowState::Zombie)?;
    let (state, status) = if uncommitted(work).next().is_some() {
        (SurfaceState::Agrees, ClaimStatus::Held)
    } else if work.doing.edits.iter().any(Edit::is_in_doubt) {
        (SurfaceState::Unread, ClaimStatus::Unproven)
    } else {
        return None;
    };
    let is_its = |record: &&JudgedRecord| {
        let is_alive = record.verdict.state == VerdictState::Alive;
        is_entry_of(record, work) && is_alive && record.window.as_ref() == Some(&window.key)
    };
    let own = records.iter().find(is_its);
    let record = own.cloned().unwrap_or_else(|| transcript(window, work, uid));
    Some(claim(&record, work, state, (Some(window.key.clone()), status)))
}

/// Returns the work of the sessions that only proven dead processes ran, each with its newest record.
fn of_dead<'a>(
    world: &'a World<'_>,
    windows: &'a [WindowView],
    records: &'a [JudgedRecord],
) -> impl Iterator<Item = (&'a Arc<Work>, &'a JudgedRecord)> {
    let is_run = |work: &Work| {
        let runs = |window: &WindowView| window.session.as_ref().is_some_and(|it| it.id == work.session);
        windows.iter().any(runs)
    };
    let is_dead =
        |record: &JudgedRecord| record.verdict.state == VerdictState::Dead && record.lives_in.is_none();
    let left = world.snapshot.work.iter().filter(move |work| !is_run(work));
    left.filter_map(move |work| {
        let entries = || records.iter().filter(|record| is_entry_of(record, work));
        let last = entries().min_by_key(|record| Reverse(record.written_at))?;
        entries().all(is_dead).then_some((work, last))
    })
}

/// Returns whether a record is the agent's own record of a transcript's session.
fn is_entry_of(record: &JudgedRecord, work: &Work) -> bool {
    record.format == Format::ClaudeCode
        && record.format == work.format
        && record.kind == RecordKind::Session
        && record.session_id.as_ref() == Some(&work.session)
}

fn claim(
    record: &JudgedRecord,
    work: &Work,
    state: SurfaceState,
    (window, status): (Option<Key>, ClaimStatus),
) -> ClaimView {
    let mut held: Vec<&Edit> = uncommitted(work).collect();
    if held.is_empty() {
        held = work.doing.edits.iter().filter(|edit| edit.is_in_doubt()).collect();
    }
    held.sort_by_key(|edit| Reverse(edit.at));
    let stated = StatedClaim {
        resource: Resource { kind: ResourceKind::Files, id: work.session.clone() },
        since: held.iter().filter_map(|edit| edit.at).min(),
        surfaces: [Surface { name: TRANSCRIPT, state }].into(),
    };
    let files: Arc<[Untrusted]> = held.into_iter().map(|edit| edit.path.clone()).collect();
    ClaimView { files, ..ClaimView::new(record, &stated, (window, status)) }
}

/// Presents a transcript as the record of its window if no system has one.
fn transcript(window: &WindowView, work: &Work, uid: u32) -> JudgedRecord {
    let ownership = Ownership { medium: work.medium, ..Ownership::new(uid, 0o600) };
    let location = Location::File(work.path.clone());
    let blank = Record::blank((work.format, RecordKind::Session), location, ownership, work.written_at);
    let record = Record {
        variant: TRANSCRIPT,
        session_id: Some(work.session.clone()),
        title: window.title().into(),
        ..blank
    };
    let session = window.session.as_ref();
    let is_exact = session.is_some_and(|session| session.strength == Strength::Exact);
    let verdict = Verdict {
        state: VerdictState::Alive,
        reason: if is_exact { Reason::SameProcess } else { Reason::ProcessPresent },
        in_other_namespace: false,
        evidence: session.map(|session| session.evidence.clone()).into_iter().collect(),
    };
    let parts = [work.format.name().as_bytes(), work.path.bytes(), window.key.as_str().as_bytes()];
    Arc::new(RecordView {
        key: Key::of_bytes(KeyKind::Record, &parts),
        role: Role::Agent,
        evidence: record.evidence(),
        record: Arc::new(record),
        verdict,
        is_stale: false,
        window: Some(window.key.clone()),
        window_pid: Some(window.pid),
        lives_in: None,
        lives_on: None,
    })
}
