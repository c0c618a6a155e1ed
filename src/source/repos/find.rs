//! Finds the repositories of a folder that a person named.

use std::path::Path;

use rustix::fs::FileType;

use super::locate::{RepoLocation, locate, repository_at};
use crate::source::os::fence::Fence;
use crate::source::os::open::error::OpenError;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::listing::Entry;

/// The most folders that are looked into below one root.
const MAX_FOLDERS: usize = 4_096;

/// Finds the repository whose top is this folder; else those of its children and grandchildren; else the one that it
/// lies in; else the folder itself, as a working tree. At most one more than [`MAX_REPOS`].
///
/// # Errors
/// The folder cannot be listed.
pub(crate) fn find_below(root: &Path, fence: &Fence) -> Result<Vec<RepoLocation>, OpenError> {
    let root = fence.resolve(root);
    if let Some(own) = repository_at(&root, fence) {
        return Ok(vec![own]);
    }
    let mut found = Vec::new();
    let mut folders_left = MAX_FOLDERS;
    for child in folders(&root, &mut folders_left)? {
        let path = root.join(&child.name);
        if let Some(own) = repository_at(&path, fence) {
            found.push(own);
        } else if let Ok(grandchildren) = folders(&path, &mut folders_left) {
            let paths = grandchildren.iter().map(|grandchild| path.join(&grandchild.name));
            found.extend(paths.filter_map(|path| repository_at(&path, fence)));
        }
        if found.len() > MAX_REPOS {
            break;
        }
    }
    if found.is_empty() {
        // A folder that a person named is read as a working tree, repository or not.
        let itself = || RepoLocation { common_dir: root.join(".git"), main: Some(root.clone()) };
        found.push(locate(&root, fence).unwrap_or_else(itself));
    }
    found.truncate(MAX_REPOS + 1);
    Ok(found)
}

fn folders(at: &Path, left: &mut usize) -> Result<Vec<Entry>, OpenError> {
    if *left == 0 {
        return Ok(Vec::new());
    }
    let mut entries = Folder::open(at)?.entries(|_| true)?;
    entries.retain(|entry| matches!(entry.sort, FileType::Directory | FileType::Unknown));
    entries.truncate(*left);
    *left -= entries.len();
    Ok(entries)
}

/// The most repositories of one look.
pub(crate) const MAX_REPOS: usize = 64;
