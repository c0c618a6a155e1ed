//! Folders with an agent's work that git's list of working trees does not have.

use std::path::Path;

use crate::core::judge::left_over::worktree::is_entry;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{
    Certainty, Evidence, JudgedRecord, Key, KeyKind, LeftTree, Repo, StrayTree, Untrusted, VerdictState,
};

/// Returns all of them: they are shown, and never offered to be removed.
pub(crate) fn stray_trees(world: &World<'_>, records: &[JudgedRecord]) -> Vec<LeftTree> {
    let repos = world.snapshot.repos.iter();
    let strays = repos.flat_map(|repo| repo.strays.iter().map(move |stray| (repo, stray)));
    strays.map(|(repo, stray)| left_tree(world, records, repo, stray)).collect()
}

fn left_tree(world: &World<'_>, records: &[JudgedRecord], repo: &Repo, stray: &StrayTree) -> LeftTree {
    let is_in = |cwd: &Path| cwd.starts_with(&stray.path);
    let entries = records.iter().filter(|judged| is_entry(judged));
    let its = entries.filter(|judged| judged.cwd.as_deref().is_some_and(is_in));
    let is_dead = |judged: &JudgedRecord| judged.verdict.state == VerdictState::Dead;
    let maker = its.max_by_key(|judged| (!is_dead(judged), judged.written_at));
    let mut living = world.snapshot.processes.by_pid.values().filter(|process| !has_exited(process));
    let inside = living.find(|process| {
        let cwd = process.details.as_ref().and_then(|details| details.cwd.as_ref());
        cwd.is_some_and(|cwd| is_in(Path::new(cwd.raw())))
    });
    let (certainty, why) = match (inside, maker) {
        (Some(process), _) => (Certainty::Held, format!("PID {} works in it", process.id.pid)),
        (None, Some(maker)) if !is_dead(maker) => {
            (Certainty::Unknown, "it is not known whether its window is alive".to_owned())
        }
        (None, _) if world.snapshot.processes.partial.is_some() => {
            (Certainty::Unknown, "not all processes were seen".to_owned())
        }
        (None, _) => (Certainty::Guess, "could not read who has its files open".to_owned()),
    };
    let main = repo.worktrees.first().filter(|main| main.id.is_empty());
    let at = Untrusted::from_path(&stray.path.join(".git"));
    let common = repo.common_dir.as_os_str().as_encoded_bytes();
    LeftTree {
        key: Key::of_bytes(KeyKind::LeftTree, &[common, stray.path.as_os_str().as_encoded_bytes()]),
        path: Untrusted::from_path(&stray.path),
        repository: Untrusted::from_path(main.map_or(&repo.common_dir, |main| &main.path)),
        branch: stray.branch.clone(),
        agent: Some("claude-code".into()),
        window_pid: maker.and_then(|judged| judged.pid()),
        window_name: maker.map(|judged| judged.title.clone()),
        window_ended_at: maker
            .filter(|judged| is_dead(judged))
            .map(|judged| judged.heartbeat_at.unwrap_or(judged.written_at)),
        session: maker.and_then(|judged| judged.session_id.clone()),
        certainty,
        why,
        sort: stray.sort,
        is_gone: false,
        has_no_commit: false,
        merged_into: None,
        is_locked: false,
        releasable_lock: None,
        evidence: stray.sort.advice().map(|advice| Evidence::new("git", advice, at)).into_iter().collect(),
    }
}
