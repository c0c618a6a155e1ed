//! Findings about places: one tree, one slot, the same files, one resource.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::core::judge::claim::thing;
use crate::core::judge::rules::facts::{Facts, count, file_name, listed, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::rules::identity::distinct;
use crate::core::model::{
    ClaimStatus, ClaimView, Code, Details, Evidence, Finding, FolderId, Format, JudgedRecord, RecordKind,
    Remedy, Resource, ResourceKind, Untrusted, VerdictState, WindowView,
};

/// Finds windows that are in each other's way.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(same_worktree(facts));
    found.extend(same_folder(facts));
    found.extend(overlapping_files(facts));
    found.extend(contested_claims(facts));
}

/// Finds windows that use one slot, or that of the dead.
pub(crate) fn of_record(judged: &JudgedRecord, facts: &Facts<'_>, found: &mut Findings<'_>) {
    found.extend(overwritten(judged, facts));
    found.extend(dead_identity(judged, facts));
}

/// Two live windows in one working tree.
fn same_worktree(facts: &Facts<'_>) -> Vec<Finding> {
    let mut trees: BTreeMap<&Untrusted, Vec<&WindowView>> = BTreeMap::new();
    for window in facts.windows {
        if let Some(repo) = window.repo.as_ref() {
            trees.entry(&repo.worktree).or_default().push(window);
        }
    }
    trees
        .into_iter()
        .filter(|(_, windows)| windows.len() > 1)
        .map(|(tree, windows)| {
            let names: Vec<String> = windows.iter().map(|window| window_name(window)).collect();
            let message = format!(
                "{} work in one tree, {tree}: edits and commits can mix; give one of them a worktree of its own",
                listed(&names)
            );
            let subjects = windows.iter().map(|window| window.key.clone());
            let mut evidence: Vec<Evidence> = windows.iter().map(|window| window_evidence(window)).collect();
            evidence.push(Evidence::new("working tree", tree.clone(), "working directories"));
            Finding::new(Code::SameWorktree, subjects, message, evidence, Remedy::None)
        })
        .collect()
}

/// Returns whether a window is certain to have our names for files: a name in another mount namespace may be another
/// file.
pub(crate) fn has_our_names(window: &WindowView, facts: &Facts<'_>) -> bool {
    details(window, facts).is_some_and(|details| {
        details.ns_pids.len() == 1 && !details.is_cwd_elsewhere && !details.is_cwd_gone
    })
}

/// Returns the folder of a window that has mounts of its own and no name for it here.
pub(crate) fn nameless_folder(window: &WindowView, facts: &Facts<'_>) -> Option<FolderId> {
    details(window, facts).filter(|details| !details.is_cwd_gone)?.cwd_id
}

/// Returns the name here of the folder that a window with mounts of its own works in.
fn called_here<'a>(window: &WindowView, facts: &Facts<'a>) -> Option<&'a Untrusted> {
    details(window, facts)?.cwd_here.as_ref()
}

fn details<'a>(window: &WindowView, facts: &Facts<'a>) -> Option<&'a Details> {
    facts.world.snapshot.processes.get(window.pid)?.details.as_ref()
}

/// Two live windows in one folder that is not a working tree: there is no index that they could share, and nothing
/// that shows whose a change is. For a window in mounts of its own this cannot be seen from here.
fn same_folder(facts: &Facts<'_>) -> Vec<Finding> {
    let mut folders: BTreeMap<(Option<FolderId>, &Untrusted), Vec<&WindowView>> = BTreeMap::new();
    for window in facts.windows.iter().filter(|window| window.repo.is_none()) {
        let id = nameless_folder(window, facts);
        let called = called_here(window, facts);
        let is_certain = id.is_some() || called.is_some() || has_our_names(window, facts);
        if let Some(folder) = called.or(window.cwd.as_ref()).filter(|_| is_certain) {
            folders.entry((id, folder)).or_default().push(window);
        }
    }
    let is_plain = |folder: &Untrusted| facts.world.snapshot.plain_folders.contains(folder);
    let is_meant = |id: Option<FolderId>, folder| id.is_some() || is_plain(folder);
    let shared = folders
        .into_iter()
        .filter(|((id, folder), windows)| windows.len() > 1 && is_meant(*id, folder))
        .map(|((id, folder), windows)| tell_folder(folder, id.is_some(), &windows));
    shared.collect()
}

fn tell_folder(folder: &Untrusted, is_apart: bool, windows: &[&WindowView]) -> Finding {
    let names: Vec<String> = windows.iter().map(|window| window_name(window)).collect();
    let is_no_tree = if is_apart { "in mounts of their own" } else { "which is not a working tree" };
    let kept = if is_apart { "" } else { ", and the older text is not kept" };
    let message = format!(
        "{} work in one folder, {folder}, {is_no_tree}: one can overwrite what another has just written{kept}; give \
         each a folder of its own",
        listed(&names)
    );
    let subjects = windows.iter().map(|window| window.key.clone());
    let mut evidence: Vec<Evidence> = windows.iter().map(|window| window_evidence(window)).collect();
    evidence.push(Evidence::new("folder", folder.clone(), "working directories"));
    Finding::new(Code::SameFolder, subjects, message, evidence, Remedy::None)
}

/// Returns whether a record may well stand for live work: not dead, not ended, not expired.
pub(crate) fn is_current(judged: &JudgedRecord, facts: &Facts<'_>) -> bool {
    let now = facts.world.snapshot.taken_at;
    match judged.verdict.state {
        _ if judged.record.has_ended => false,
        VerdictState::Alive => true,
        VerdictState::Dead => false,
        VerdictState::Unknown => judged.record.expiry.as_ref().is_some_and(|expiry| expiry.at > now),
    }
}

/// Two live records that touch the same files in one working tree.
fn overlapping_files(facts: &Facts<'_>) -> Vec<Finding> {
    let mut trees: BTreeMap<&Path, Vec<&JudgedRecord>> = BTreeMap::new();
    let touches = |judged: &&JudgedRecord| {
        // A reservation names no file literally, and belongs to no window.
        judged.record.format != Format::AgentMail
            && !judged.record.files.is_empty()
            && is_current(judged, facts)
    };
    for judged in facts.records.iter().filter(touches) {
        if let Some(tree) = tree_of(judged, facts) {
            trees.entry(tree).or_default().push(judged);
        }
    }
    let mut found = Vec::new();
    for (tree, records) in trees {
        for (at, one) in records.iter().enumerate() {
            let others = records.iter().skip(at + 1).filter(|other| !is_same_holder(one, other));
            found.extend(others.filter_map(|other| tell_overlap(tree, one, other)));
        }
    }
    found
}

/// Returns the working tree in which a record's files are: the one that its folder lies in, as they are named from
/// its root. If it names no folder and its holder lives, that is its window's tree: the agent's hooks write it from
/// there. A remote's address or a branch does not identify a tree.
pub(crate) fn tree_of<'a>(judged: &'a JudgedRecord, facts: &'a Facts<'_>) -> Option<&'a Path> {
    let root = |folder: &Path| Some(facts.world.worktree_of(folder)?.1.path.as_path());
    match judged.record.cwd.as_deref() {
        // A reservation's globs start at the project's folder, wherever in a tree that is.
        Some(folder) if judged.record.format == Format::AgentMail => Some(folder),
        Some(folder) => root(folder).or(Some(folder)),
        None if judged.verdict.state == VerdictState::Alive => {
            root(Path::new(facts.window(judged.window_pid?)?.cwd.as_ref()?.raw()))
        }
        None => None,
    }
}

pub(crate) fn is_same_holder(one: &JudgedRecord, other: &JudgedRecord) -> bool {
    let same_session = one.record.session_id.is_some() && one.record.session_id == other.record.session_id;
    let same_window = one.window_pid.is_some() && one.window_pid == other.window_pid;
    same_session || same_window
}

fn tell_overlap(tree: &Path, one: &JudgedRecord, other: &JudgedRecord) -> Option<Finding> {
    let touched: BTreeSet<&Untrusted> = one.record.files.iter().collect();
    let both: Vec<String> =
        other.record.files.iter().filter(|file| touched.contains(file)).map(Untrusted::shown).collect();
    let first = both.first()?;
    let more = if both.len() > 1 { format!(" and {} more", both.len() - 1) } else { String::new() };
    let message = format!(
        "{} and {} both touch {first}{more} in {}: a commit by one can include the other's lines",
        one.record.title,
        other.record.title,
        Untrusted::from_path(tree)
    );
    let mut evidence = vec![one.evidence(), other.evidence()];
    evidence.push(Evidence::new("files of both", both.join(", "), "records"));
    if one.record.cwd.is_none() || other.record.cwd.is_none() {
        let tree = Untrusted::from_path(tree);
        evidence.push(Evidence::new("working tree", tree, "the window's, because the record names none"));
    }
    let subjects = [one.key.clone(), other.key.clone()];
    Some(Finding::new(Code::OverlappingFiles, subjects, message, evidence, Remedy::None))
}

/// Two live windows that write one slot: only the last one's session is kept.
fn overwritten(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let writers = slot_users(judged, facts);
    if writers.len() < 2 {
        return None;
    }
    let names: Vec<String> = writers.iter().map(|window| window_name(window)).collect();
    let message = format!(
        "{} write one slot, {}: only the last one's session is kept, the other's events go to it",
        listed(&names),
        file_name(judged)
    );
    let subjects = writers.iter().map(|window| window.key.clone()).chain([judged.key.clone()]);
    let mut evidence = vec![judged.evidence()];
    evidence.extend(writers.iter().map(|window| window_evidence(window)));
    Some(Finding::new(Code::OverwrittenRecord, subjects, message, evidence, Remedy::None))
}

/// Returns the windows that keep their session in a slot of the observability system.
fn slot_users<'a>(judged: &JudgedRecord, facts: &'a Facts<'_>) -> Vec<&'a WindowView> {
    let is_slot = judged.record.format == Format::Observability && judged.record.kind == RecordKind::Session;
    let Some(project) = judged.record.context_id.as_ref().filter(|_| is_slot) else { return Vec::new() };
    let is_user = |window: &&WindowView| {
        window.agent.raw().contains("claude") && project_of(window).as_deref() == Some(project.raw())
    };
    facts.windows.iter().filter(is_user).collect()
}

/// A slot whose session is dead, in a project where a window lives: until the slot is written anew or
/// is older than its system allows, that window's events are filed under the dead session.
fn dead_identity(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let session = judged.record.session_id.as_ref()?;
    let now = facts.world.snapshot.taken_at;
    let is_served = judged.record.expiry.as_ref().is_none_or(|expiry| expiry.at > now);
    if judged.verdict.state != VerdictState::Dead || !is_served {
        return None;
    }
    let users = slot_users(judged, facts);
    let names: Vec<String> = users.iter().map(|window| window_name(window)).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!(
        "{}: events are filed under session {session} of {}, whose window is gone; release it, and restart the \
         session so that its hook writes its own",
        listed(&names),
        file_name(judged)
    );
    let subjects = users.iter().map(|window| window.key.clone()).chain([judged.key.clone()]);
    let mut evidence: Vec<Evidence> = judged.all_evidence().to_vec();
    evidence.extend(users.iter().map(|window| window_evidence(window)));
    Some(Finding::new(Code::DeadIdentityServed, subjects, message, evidence, Remedy::Release))
}

/// Returns the observability system's project of a window: the name of the nearest folder
/// with `.git`, which every linked worktree has too, else of the working directory.
pub(crate) fn project_of(window: &WindowView) -> Option<String> {
    let folder = match window.repo.as_ref() {
        Some(repo) => &repo.worktree,
        None => window.cwd.as_ref()?,
    };
    folder.raw().rsplit('/').next().map(str::to_owned)
}

/// Two live holders of one exclusive resource. A session shared by two processes is reported as
/// that, not once more here.
fn contested_claims(facts: &Facts<'_>) -> Vec<Finding> {
    let contested = facts.claims.iter().filter(|claim| claim.status == ClaimStatus::Contested);
    let mut held: BTreeMap<Resource, Vec<&ClaimView>> = contested
        .filter(|claim| claim.resource.kind != ResourceKind::Session)
        .map(|claim| (thing(&claim.resource), Vec::new()))
        .collect();
    if held.is_empty() {
        return Vec::new();
    }
    for claim in facts.claims.iter().filter(|claim| claim.window.is_some()) {
        if let Some(claims) = held.get_mut(&thing(&claim.resource)) {
            claims.push(claim);
        }
    }
    held.iter().filter_map(|(resource, claims)| tell_contested(resource, claims, facts)).collect()
}

fn tell_contested(resource: &Resource, claims: &[&ClaimView], facts: &Facts<'_>) -> Option<Finding> {
    let holders: Vec<&JudgedRecord> = claims.iter().map(|claim| &claim.record).collect();
    let windows = distinct(holders.iter().filter_map(|judged| judged.window_pid));
    let names: Vec<String> = windows.iter().filter_map(|pid| facts.window(*pid)).map(window_name).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!(
        "{} {} is held by {}, {}: let one of them release it",
        resource.kind.name(),
        resource.id,
        count(windows.len(), "live window"),
        names.join(" and "),
    );
    let subjects = claims.iter().map(|claim| claim.key.clone());
    let evidence: Vec<Evidence> = holders.iter().map(|judged| judged.evidence()).collect();
    Some(Finding::new(Code::ContestedClaim, subjects, message, evidence, Remedy::Release))
}
