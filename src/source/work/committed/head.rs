//! Whether a working tree has had a head, and the folder of its own files in git's.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use crate::core::model::{Repo, Worktree};
use crate::source::os::open::folder::Folder;
use crate::source::work::committed::reflog::Log;

/// Names that show that a version control system manages a folder.
const CONTROLLED: [&str; 7] = [".git", ".hg", ".svn", ".jj", ".bzr", ".fslckout", "_FOSSIL_"];

/// Where the head of a working tree has been.
#[derive(Clone)]
pub(super) enum Head {
    Moved(Arc<Log>),
    /// There is no commit.
    Never,
}

/// Returns where a working tree's head has been, by its reflog.
pub(super) fn head_of(repo: &Repo, tree: &Worktree, uid: u32) -> Option<Head> {
    // Jujutsu commits what it finds without moving git's head.
    if !is_absent(&tree.path.join(".jj")) {
        return None;
    }
    match Log::read(&own_dir((repo, tree)).join("logs/HEAD"), uid) {
        Ok(log) => Some(Head::Moved(Arc::new(log?))),
        Err(Errno::NOENT) => is_unborn(repo, tree).then_some(Head::Never),
        Err(_) => None,
    }
}

/// Returns whether a repository certainly has no commit yet: no branch, loose or packed. A missing reflog proves
/// nothing, as git can be configured to keep none.
fn is_unborn(repo: &Repo, tree: &Worktree) -> bool {
    let branches = || Folder::open(&repo.common_dir.join("refs/heads"))?.entries(|_| true);
    tree.id.is_empty()
        && tree.branch.is_some()
        && is_absent(&repo.common_dir.join("packed-refs"))
        && branches().is_ok_and(|branches| branches.is_empty())
}

/// Returns whether no version control is at work in a folder or above it, as far as names show.
pub(super) fn is_uncontrolled(folder: &Path) -> bool {
    folder.ancestors().all(|above| CONTROLLED.iter().all(|name| is_absent(&above.join(name))))
}

/// Returns the folder in which git keeps a working tree's own files.
pub(super) fn own_dir((repo, tree): (&Repo, &Worktree)) -> PathBuf {
    match tree.id.as_str() {
        "" => repo.common_dir.clone(),
        id => repo.common_dir.join("worktrees").join(id),
    }
}

/// Returns whether a path certainly does not exist.
pub(super) fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}
