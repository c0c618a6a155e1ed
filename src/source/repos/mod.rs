//! Finds git repositories and reads their working trees, without running git.

pub(crate) mod find;
pub(crate) mod head;
pub(crate) mod ignored;
pub(crate) mod index;
pub(crate) mod inside;
pub(crate) mod locate;
pub(crate) mod made;
pub(crate) mod objects;
pub(crate) mod refs;
pub(crate) mod settings;
pub(crate) mod stashed;
pub(crate) mod strays;
pub(crate) mod users;
pub(crate) mod worktrees;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub(crate) use self::inside::Reader as InsideReader;
pub(crate) use self::locate::locate;
use self::refs::PackedRefs;
pub(crate) use self::users::Reader as UsersReader;
use crate::core::model::{Repo, RepoSort};
use crate::source::os::fence::Fence;
use crate::source::repos::locate::RepoLocation;

/// Reads repositories again and again, and keeps what did not change.
#[derive(Default)]
pub(crate) struct Reader {
    /// The packed refs of each repository by its common directory: that file can be large.
    packed: HashMap<PathBuf, PackedRefs>,
}

/// One repository as it was read.
pub(crate) struct RepoReading {
    pub(crate) repo: Repo,
    /// What could not be read of it, as text.
    pub(crate) problems: Vec<String>,
}

impl Reader {
    /// Reads one repository; outside the fence only its own files.
    pub(crate) fn read(&mut self, located: &RepoLocation, fence: &Fence) -> RepoReading {
        let common = located.common_dir.as_path();
        let mut problems = Vec::new();
        let worktrees = worktrees::read(located, fence, &mut problems);
        let entire_refs = self.refs(common, &mut problems);
        let is_git = common.join("HEAD").symlink_metadata().is_ok();
        let sort = if is_git { RepoSort::Git } else { RepoSort::Folder };
        let common_dir = common.to_path_buf();
        let strays = strays::read(located, &worktrees, fence, &mut problems);
        let repo = Repo { common_dir, sort, worktrees, strays, entire_refs, ..Repo::default() };
        RepoReading { repo, problems }
    }

    fn refs(&mut self, common: &Path, problems: &mut Vec<String>) -> Vec<String> {
        let packed = refs::packed(common, self.packed.remove(common), problems);
        let mut names = refs::loose(common, problems);
        names.extend(packed.names.iter().cloned());
        names.sort_unstable();
        names.dedup();
        self.packed.insert(common.to_path_buf(), packed);
        names
    }

    /// Forgets repositories that are not looked at any more.
    pub(crate) fn keep(&mut self, common_dirs: &[&Path]) {
        self.packed.retain(|common, _| common_dirs.contains(&common.as_path()));
    }
}
