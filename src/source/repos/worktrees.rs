//! The working trees of one repository (gitrepository-layout(5), `worktrees/`).

use std::ffi::OsStr;
use std::path::Path;

use rustix::io::Errno;

use super::locate::{POINTER, RepoLocation, pointer};
use super::made::{is_gone, made};
use crate::core::model::text::secret::hide;
use crate::core::model::{Untrusted, Worktree};
use crate::source::os::fence::Fence;
use crate::source::os::open::error::{OpenError, errno_text};
use crate::source::os::open::folder::Folder;
use crate::source::os::open::plain::small;

/// The most working trees of one repository.
const MAX_WORKTREES: usize = 256;
/// The most bytes of a lock's reason.
const REASON: usize = 64 << 10;

/// Reads all working trees, the main one first.
pub(crate) fn read(located: &RepoLocation, fence: &Fence, problems: &mut Vec<String>) -> Vec<Worktree> {
    let mut all: Vec<Worktree> = located.main.iter().map(|top| main(&located.common_dir, top)).collect();
    match linked(&located.common_dir, fence, problems) {
        Ok(linked) => all.extend(linked),
        Err(error) if error.is_absence() => {}
        Err(error) => problems.push(error.to_string()),
    }
    all
}

fn main(common_dir: &Path, top: &Path) -> Worktree {
    Worktree {
        path: top.to_path_buf(),
        id: String::new(),
        branch: branch(&common_dir.join("HEAD")),
        exists: top.is_dir(),
        ..Worktree::default()
    }
}

fn linked(common_dir: &Path, fence: &Fence, problems: &mut Vec<String>) -> Result<Vec<Worktree>, OpenError> {
    let folder = Folder::open(&common_dir.join("worktrees"))?;
    let mut entries = folder.entries(|_| true)?;
    if entries.len() > MAX_WORKTREES {
        problems.push(format!("more than {MAX_WORKTREES} working trees; the others were not read"));
        entries.truncate(MAX_WORKTREES);
    }
    let mut all = Vec::new();
    for entry in entries {
        match one(&folder.path().join(&entry.name), common_dir, fence) {
            Some(tree) => all.push(tree),
            None => problems.push(format!("working tree {} does not say where it is", id(&entry.name))),
        }
    }
    Ok(all)
}

/// Reads one linked working tree from its folder below `worktrees`.
fn one(admin: &Path, common_dir: &Path, fence: &Fence) -> Option<Worktree> {
    // The file names the `.git` file of the working tree; it may be relative.
    let dot_git = admin.join(pointer(&admin.join("gitdir"))?);
    let path = fence.resolve(dot_git.parent()?);
    let locked = locked(&admin.join("locked"));
    // Nothing outside the fence is read.
    let is_inside = fence.allows(&path);
    Some(Worktree {
        id: id(admin.file_name()?),
        branch: branch(&admin.join("HEAD")),
        exists: !is_inside || path.is_dir(),
        is_gone: is_inside && is_gone(&path, common_dir),
        made: made(admin, common_dir, &path, locked.as_ref()),
        locked,
        path,
    })
}

fn id(name: &OsStr) -> String {
    Untrusted::from_path(Path::new(name)).raw().to_owned()
}

/// Reads the branch that a `HEAD` names; a repository with reftables has `.invalid` there.
pub(crate) fn branch(head: &Path) -> Option<Untrusted> {
    let bytes = small(head, POINTER).ok()?;
    let name = bytes.trim_ascii_end().strip_prefix(b"ref: refs/heads/")?;
    (name != b".invalid").then(|| Untrusted::from_bytes(name))
}

/// Reads why a working tree is locked; a lock that cannot be read still counts.
fn locked(file: &Path) -> Option<Untrusted> {
    match small(file, REASON) {
        Ok(reason) => {
            let mut reason = Untrusted::from_bytes(reason.trim_ascii_end());
            hide(&mut reason);
            Some(reason)
        }
        Err(Errno::NOENT | Errno::NOTDIR) => None,
        Err(error) => Some(format!("(failed to read the reason: {})", errno_text(error)).into()),
    }
}
