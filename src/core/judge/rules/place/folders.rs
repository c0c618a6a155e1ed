//! Findings about windows whose folder was removed while they work.

use std::path::Path;

use crate::core::judge::rules::facts::{Facts, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::model::{Code, Evidence, Finding, Remedy, Untrusted, WindowView, Work};

/// Reports each window whose folder is no longer there: its commands fail, and it is in no tree that others work in.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let gone = facts.windows.iter().filter(|window| window.is_folder_gone);
    found.extend(gone.filter_map(|window| removed(window, facts)));
}

fn removed(window: &WindowView, facts: &Facts<'_>) -> Option<Finding> {
    let folder = window.cwd.as_ref()?;
    let by = remover(Path::new(folder.raw()), facts);
    let (by, seen) = by.map_or((String::new(), None), |(by, seen)| (by, Some(seen)));
    let message = format!(
        "{}: its folder {folder} was removed{by}: close it, or continue from a folder that exists",
        window_name(window)
    );
    let evidence: Vec<Evidence> = [window_evidence(window)].into_iter().chain(seen).collect();
    Some(Finding::new(Code::FolderRemoved, [window.key.clone()], message, evidence, Remedy::None))
}

/// Describes which process removed a folder, as far as a transcript or git shows that.
fn remover(folder: &Path, facts: &Facts<'_>) -> Option<(String, Evidence)> {
    let works = facts.world.snapshot.work.iter();
    let has_removed = |path: &Untrusted| folder.starts_with(path.raw());
    if let Some(work) = works.into_iter().find(|work| work.doing.removed.iter().any(has_removed)) {
        let by = format!(" by {}", name_of(work, facts));
        return Some((by, Evidence::new("removed by", work.session.clone(), work.path.text().clone())));
    }
    let mut trees = facts.world.snapshot.repos.iter().flat_map(|repo| &repo.worktrees);
    let tree = trees.find(|tree| tree.is_gone && folder.starts_with(&tree.path))?;
    let by = ", and not by git, which still lists it".to_owned();
    Some((by, Evidence::new("git", format!("working tree {} is listed", tree.id), "worktrees")))
}

/// Names the window that runs a session, else the session.
fn name_of(work: &Work, facts: &Facts<'_>) -> String {
    let runs =
        |window: &&WindowView| window.session.as_ref().is_some_and(|session| session.id == work.session);
    let window = facts.windows.iter().find(runs);
    window.map_or_else(|| format!("session {}", work.session), window_name)
}
