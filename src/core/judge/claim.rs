//! Claims: what every record holds, and how each claim stands.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::core::judge::world::World;
use crate::core::model::{
    ClaimStatus, ClaimView, Format, JudgedRecord, Key, Record, Resource, ResourceKind, StatedClaim, Surface,
    SurfaceState, VerdictState,
};

/// The inputs from which claims are judged.
pub(crate) struct ClaimFacts<'a> {
    pub(crate) records: &'a [JudgedRecord],
    /// The snapshot with its windows.
    pub(crate) world: &'a World<'a>,
    /// The windows' keys by PID.
    pub(crate) window_keys: &'a BTreeMap<u32, Key>,
}

pub(crate) fn judge_claims(facts: &ClaimFacts<'_>) -> Vec<ClaimView> {
    let contested = contested(facts.records);
    let views = facts.records.iter().flat_map(|judged| {
        let window = holder_window(judged).and_then(|pid| facts.window_keys.get(&pid).cloned());
        let contested = &contested;
        judged.record.claims.iter().map(move |claim| {
            let status = status(judged, claim, facts);
            let is_live = matches!(status, ClaimStatus::Held | ClaimStatus::Quiet | ClaimStatus::Ghost);
            let is_contested = is_live && contested.contains(&thing(&claim.resource));
            let status = if is_contested { ClaimStatus::Contested } else { status };
            let mut view = ClaimView::new(judged, claim, (window.clone(), status));
            if let Some(state) = branch_state(&judged.record, claim, facts.world) {
                let git = Surface { name: "git's branches", state };
                view.surfaces = view.surfaces.iter().cloned().chain([git]).collect();
            }
            view
        })
    });
    let mut all = Vec::with_capacity(facts.records.iter().map(|judged| judged.record.claims.len()).sum());
    all.extend(views);
    all
}

/// Returns whether only one session at a time may hold a resource of this kind. Personas, working trees and shadow
/// branches are shared by design or by habit; sharing a tree is its own finding.
pub(crate) fn is_exclusive(kind: ResourceKind) -> bool {
    match kind {
        ResourceKind::Project | ResourceKind::WorkItem | ResourceKind::Task | ResourceKind::Lock => true,
        ResourceKind::Session => true,
        ResourceKind::AgentRole | ResourceKind::Worktree | ResourceKind::Branch | ResourceKind::Files => {
            false
        }
    }
}

/// Finds the exclusive resources that two living windows hold.
fn contested(judged: &[JudgedRecord]) -> HashSet<Resource> {
    let mut holders: HashMap<Resource, u32> = HashMap::new();
    let mut contested = HashSet::new();
    for record in judged.iter().filter(|record| record.verdict.state == VerdictState::Alive) {
        let Some(window) = record.window_pid else { continue };
        let may_contest = |claim: &&StatedClaim| is_exclusive(claim.resource.kind) && is_known(claim);
        for thing in record.claims.iter().filter(may_contest).map(|claim| thing(&claim.resource)) {
            if holders.get(&thing).is_some_and(|holder| *holder != window) {
                contested.insert(thing);
            } else {
                holders.insert(thing, window);
            }
        }
    }
    contested
}

/// Returns a key for the resource of a claim that does not depend on its system: one item of work is a task for one
/// system and a work item for another.
pub(crate) fn thing(resource: &Resource) -> Resource {
    match resource.kind {
        ResourceKind::Task => Resource { kind: ResourceKind::WorkItem, id: resource.id.clone() },
        ResourceKind::AgentRole
        | ResourceKind::Project
        | ResourceKind::Worktree
        | ResourceKind::Branch
        | ResourceKind::Files
        | ResourceKind::WorkItem
        | ResourceKind::Session
        | ResourceKind::Lock => resource.clone(),
    }
}

/// Returns whether a claim states what is held at all; a local null beside an unread database does not.
fn is_known(claim: &StatedClaim) -> bool {
    claim.surfaces.iter().any(|surface| surface.state == SurfaceState::Agrees)
}

/// Returns whether one surface states the claim and another that should does not.
fn is_ghost(judged: &JudgedRecord, claim: &StatedClaim, world: &World<'_>) -> bool {
    let denies = |state| matches!(state, SurfaceState::Disagrees | SurfaceState::Missing);
    let is_of_leo = judged.record.format == Format::Leo
        && (claim.surfaces.iter().any(|surface| denies(surface.state)) || judged.record.has_ended);
    is_of_leo || branch_state(&judged.record, claim, world).is_some_and(denies)
}

/// Returns git's own account of a claimed branch, as a branch that does not exist cannot be held. `None` for other
/// claims.
fn branch_state(record: &Record, claim: &StatedClaim, world: &World<'_>) -> Option<SurfaceState> {
    if claim.resource.kind != ResourceKind::Branch {
        return None;
    }
    let repo = world.repo_of(record);
    Some(match repo.and_then(|repo| Some((repo, repo.has_branch(claim.resource.id.raw())?))) {
        Some((_, true)) => SurfaceState::Agrees,
        Some((repo, false)) if world.snapshot.is_whole(repo) => SurfaceState::Missing,
        Some(_) | None => SurfaceState::Unread,
    })
}

/// Returns the window that holds a record's claims: the record's own, or the one in which its
/// session was resumed.
fn holder_window(judged: &JudgedRecord) -> Option<u32> {
    judged.window_pid.or(judged.lives_in)
}

/// Returns the window that is certain to run the record's session already, under another PID.
pub(crate) fn resumed_in(record: &Record, world: &World<'_>) -> Option<u32> {
    world.pids_of_session(record.session_id.as_ref()?).next()
}

fn status(judged: &JudgedRecord, claim: &StatedClaim, facts: &ClaimFacts<'_>) -> ClaimStatus {
    let now = facts.world.snapshot.taken_at;
    let is_past = judged.record.expiry.as_ref().is_some_and(|expiry| expiry.at <= now);
    if !is_known(claim) {
        return ClaimStatus::Unproven;
    }
    match judged.verdict.state {
        VerdictState::Alive | VerdictState::Unknown if is_ghost(judged, claim, facts.world) => {
            ClaimStatus::Ghost
        }
        VerdictState::Alive if is_past => ClaimStatus::Quiet,
        VerdictState::Alive => ClaimStatus::Held,
        VerdictState::Dead if judged.lives_in.is_some() => ClaimStatus::Held,
        VerdictState::Dead => ClaimStatus::Dead,
        VerdictState::Unknown if is_past => ClaimStatus::Expired,
        VerdictState::Unknown => ClaimStatus::Unproven,
    }
}
