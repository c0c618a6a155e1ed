//! Stash entries that dead windows leave behind, by the edits in them.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;

use crate::core::model::snapshot::Repo;
use crate::core::model::{EditState, Key, KeyKind, LeftStash, LostWork, Untrusted};

/// What an entry has of one session.
struct Share {
    files: usize,
    since: Option<Timestamp>,
    folder: Untrusted,
}

/// Returns each stash entry that has edits of dead windows, once for each window.
pub(crate) fn left_stashes(lost: &[LostWork], repos: &[Repo]) -> Vec<LeftStash> {
    lost.iter().flat_map(|lost| of_one(lost, repos)).collect()
}

fn of_one<'a>(lost: &'a LostWork, repos: &[Repo]) -> impl Iterator<Item = LeftStash> + use<'a> {
    let mut found: BTreeMap<&Untrusted, Share> = BTreeMap::new();
    for edit in lost.work.doing.edits.iter().filter(|edit| edit.fate.state == EditState::Stashed) {
        let Some(stash) = &edit.fate.stash else { continue };
        let folder = || folder_of(Path::new(edit.path.raw()), repos);
        let share = found.entry(stash).or_insert_with(|| Share { files: 0, since: None, folder: folder() });
        share.files += 1;
        share.since = share.since.max(edit.fate.since);
    }
    found.into_iter().map(|(commit, share)| LeftStash {
        key: Key::derive(KeyKind::LeftStash, &[commit.raw(), lost.work.session.raw()]),
        commit: commit.clone(),
        folder: share.folder,
        window_name: lost.name.clone(),
        session: lost.work.session.clone(),
        files: share.files,
        since: share.since,
    })
}

/// Returns the working tree that has a file, else the folder of the file.
fn folder_of(path: &Path, repos: &[Repo]) -> Untrusted {
    let trees = repos.iter().flat_map(|repo| &repo.worktrees).map(|tree| tree.path.as_path());
    let tree = trees.filter(|tree| path.starts_with(tree)).max_by_key(|tree| tree.components().count());
    Untrusted::from_path(tree.or_else(|| path.parent()).unwrap_or(path))
}
