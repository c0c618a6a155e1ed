//! Stories of places: one tree, one slot, the same files, one resource.

use std::path::Path;

use crate::core::judge::rules::facts::{file_name, listed, window_name};
use crate::core::judge::rules::place::sharing::nameless_folder;
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{Scene, all_evidence, all_windows, began_at, session_name};
use crate::core::model::{Cause, Evidence, Format, JudgedRecord, Key, Story, VerdictState};

/// Two windows write one project's slot.
pub(crate) fn overwritten(scene: &Scene<'_>) -> Option<Story> {
    let judged = scene.records.first()?;
    let mut chain = Chain::default();
    scene.tell_starts(&mut chain);
    let session = judged.record.session_id.as_ref();
    let named = session.map_or_else(|| "no usable session".to_owned(), |id| format!("session {id}"));
    let at = judged.record.started_at.unwrap_or(judged.record.written_at);
    chain.saw(Some(at), format!("{} was given {named}", file_name(judged)), [judged.evidence()]);
    let owner =
        scene.windows.iter().find(|window| session.is_some() && window.session_id.as_ref() == session);
    let last = scene.windows.iter().rev().find(|window| window.started_at.is_none_or(|start| start <= at));
    let kept = owner.or(last).or(scene.windows.last())?;
    let others: Vec<String> = scene
        .windows
        .iter()
        .filter(|window| window.key != kept.key)
        .map(|window| window_name(window))
        .collect();
    let sentence = format!(
        "the slot is named by the project alone, so {} overwrote it: events of {} go to that session",
        window_name(kept),
        listed(&others)
    );
    let ending = Ending::new(
        Cause::ProjectSlot,
        "give each window a worktree of its own: the slot is named by the tree's folder",
        format!(
            "the session ID that {} itself runs: if the slot has it, its events are not lost",
            listed(&others)
        ),
    );
    chain.end(ending, so(sentence, all_windows(&scene.windows)))
}

/// Two windows in one working tree; with the entire CLI, a commit can get the other's checkpoint.
pub(crate) fn same_worktree(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    let tree = scene.windows.first()?.repo.as_ref().map(|repo| repo.worktree.clone())?;
    for window in &scene.windows {
        scene.tell_start(&mut chain, window);
        let folder = window.cwd.clone().unwrap_or_else(|| tree.clone());
        let source = format!("/proc/{}/cwd", window.pid);
        chain.saw(
            window.started_at,
            format!("it works in {folder}"),
            [Evidence::new("folder", folder.clone(), source)],
        );
    }
    let here = scene.facts.index.entire_in(Path::new(tree.raw())).iter().copied();
    let sessions: Vec<&JudgedRecord> =
        here.filter(|judged| judged.verdict.state != VerdictState::Dead).collect();
    sessions.iter().for_each(|judged| scene.tell_begin(&mut chain, judged));
    let names: Vec<String> = scene.windows.iter().map(|window| window_name(window)).collect();
    let (cause, sentence) = if sessions.len() > 1 {
        commits(&sessions)
    } else {
        let sentence =
            format!("{} share one index and one head: what one stages, the other commits", listed(&names));
        (Cause::SharedWorktree, sentence)
    };
    let ending = Ending::new(
        cause,
        format!("git worktree add for all but one of {}", listed(&names)),
        "the working directory of one of them in another tree",
    );
    let story = chain.end(ending, so(sentence, all_windows(&scene.windows)))?;
    Some(Story { yields: later(scene), ..story })
}

/// Two windows in one folder that is not a working tree, or may be one only in their own view.
pub(crate) fn same_folder(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    let folder = scene.windows.first()?.cwd.clone()?;
    for window in &scene.windows {
        scene.tell_start(&mut chain, window);
        let source = format!("/proc/{}/cwd", window.pid);
        let evidence = Evidence::new("folder", folder.clone(), source);
        chain.saw(window.started_at, format!("it works in {folder}"), [evidence]);
    }
    let names: Vec<String> = scene.windows.iter().map(|window| window_name(window)).collect();
    let is_apart = scene.windows.iter().any(|window| nameless_folder(window, scene.facts).is_some());
    let apart = if is_apart { "nothing" } else { "no repository" };
    let sentence =
        format!("{apart} keeps what {} write apart: the last one to save a file wins", listed(&names));
    let ending = Ending::new(
        Cause::SharedFolder,
        format!(
            "give all but one of {} a folder of its own, or git init and git worktree add",
            listed(&names)
        ),
        "the working directory of one of them in another folder",
    );
    let story = chain.end(ending, so(sentence, all_windows(&scene.windows)))?;
    Some(Story { yields: later(scene), ..story })
}

/// Returns all windows but the one that was there first.
fn later(scene: &Scene<'_>) -> Vec<Key> {
    scene.windows.iter().skip(1).map(|window| window.key.clone()).collect()
}

/// Describes whose a commit becomes in a tree with several of entire's sessions.
fn commits(sessions: &[&JudgedRecord]) -> (Cause, String) {
    let mut checkpoints = sessions.iter().map(|one| one.record.detail.entire()?.last_checkpoint.as_ref());
    let first = checkpoints.next().flatten();
    if let Some(id) = first.filter(|id| checkpoints.flatten().any(|other| other == *id)) {
        return (
            Cause::SharedCheckpoint,
            format!("checkpoint {id} was given to more than one session of this tree"),
        );
    }
    let sentence = "entire finds the session of a commit by its tree, and several run in this one: a commit by one can become the other's checkpoint";
    (Cause::SharedWorktree, sentence.to_owned())
}

/// Two records that touch the same files.
pub(crate) fn overlapping(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    for judged in &scene.records {
        scene.tell_begin(&mut chain, judged);
        let files: Vec<String> = judged.record.files.iter().take(4).map(|file| file.shown()).collect();
        let says = format!(": {} touches {}", session_name(judged), listed(&files));
        scene.tell_write(&mut chain, judged, &says);
    }
    let (cause, sentence) = if scene.records.iter().all(|judged| judged.record.format == Format::Entire) {
        commits(&scene.records)
    } else {
        let sentence = "both edit these files in one tree, and neither system knows of the other".to_owned();
        (Cause::SharedWorktree, sentence)
    };
    let later = scene.records.last()?;
    let ending = Ending::new(
        cause,
        format!(
            "let {} or {} commit before the other continues, or move one of them to a worktree",
            scene.who(scene.records.first()?),
            scene.who(later)
        ),
        "one of the sessions ended, or its files committed: git status shows whose changes are left",
    );
    chain.end(ending, so(sentence, all_evidence(&scene.records)))
}

/// Two live holders of one resource.
pub(crate) fn contested(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    let resource = &scene.claims.first()?.resource;
    let what = format!("{} {}", resource.kind.name(), resource.id);
    let since = |judged: &JudgedRecord| {
        let claim = scene.claims.iter().find(|claim| claim.record.key == judged.key);
        claim.and_then(|claim| claim.since).unwrap_or_else(|| began_at(judged))
    };
    for judged in &scene.records {
        if let Some(window) = scene.window_of(judged) {
            scene.tell_start(&mut chain, window);
        }
        chain.saw(
            Some(since(judged)),
            format!("{} claimed {what}, says {}", session_name(judged), file_name(judged)),
            [judged.evidence()],
        );
    }
    let first = scene.records.iter().min_by_key(|judged| since(judged))?;
    let sentence = format!(
        "the later claim was written while {} still held {what}: it had not been released",
        scene.who(first)
    );
    let ending = Ending::new(
        Cause::DoubleClaim,
        format!("let all but {} release {what}", scene.who(first)),
        "a release by one of them, or a surface (the database) that names one holder",
    );
    let claim = |judged: &JudgedRecord| scene.claims.iter().find(|claim| claim.record.key == judged.key);
    let key =
        |judged: &JudgedRecord| claim(judged).map_or_else(|| judged.key.clone(), |claim| claim.key.clone());
    let later = scene.records.iter().filter(|judged| judged.key != first.key);
    let yields = later.map(|judged| key(judged)).collect();
    let story = chain.end(ending, so(sentence, all_evidence(&scene.records)))?;
    Some(Story { yields, ..story })
}

/// One branch was checked out in two trees, and a window works in each.
pub(crate) fn shared_branch(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    let branch = scene.windows.first()?.repo.as_ref()?.branch.clone()?;
    for window in &scene.windows {
        scene.tell_start(&mut chain, window);
        let tree = window.repo.as_ref().map(|repo| repo.worktree.clone())?;
        let source = format!("{tree}/.git");
        chain.saw(
            window.started_at,
            format!("it works in {tree}, where {branch} is checked out"),
            [Evidence::new("branch", branch.clone(), source)],
        );
    }
    let sentence = format!("git moves {branch} when either commits; the other's tree stays where it was");
    let ending = Ending::new(
        Cause::DoubleClaim,
        format!("git switch -c <name> in all trees of {branch} but one"),
        "another branch at the head of one of the trees",
    );
    chain.end(ending, so(sentence, all_windows(&scene.windows)))
}
