//! Reads the repositories that a look has found, and the records in their folders.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::core::model::{Repo, SourceHealth};
use crate::format::Base;
use crate::observe::collect::found::{Found, Roots};
use crate::observe::collect::health;
use crate::observe::collect::pass::Pass;
use crate::source::interface::Hints;
use crate::source::os::fence::Fence;
use crate::source::repos::{InsideReader, Reader, UsersReader};

/// The repositories of one look by common directory, as they were read.
pub(crate) type Read = BTreeMap<PathBuf, (Repo, SourceHealth)>;

/// Reads repositories again and again.
#[derive(Default)]
pub(crate) struct Repositories {
    reader: Reader,
    pub(crate) roots: Roots,
    pub(crate) users: UsersReader,
    pub(crate) inside: InsideReader,
}

impl Repositories {
    /// Reads the repositories that were found and not read yet; and once more those that their
    /// records name.
    pub(crate) fn read(&mut self, found: &mut Found, pass: &mut Pass<'_>, read: &mut Read, fence: &Fence) {
        for _ in 0..2 {
            found.add(pass.new_cwds(), fence);
            for located in found.unread() {
                let one = self.reader.read(&located, fence);
                // A linked tree that was named alone has its repository outside the fence.
                if !located.common_dir.is_file() {
                    pass.read_base(Base::GitCommon, &located.common_dir, fence);
                }
                let trees = one.repo.worktrees.iter().filter(|tree| tree.exists);
                let (inside, outside): (Vec<_>, Vec<_>) = trees.partition(|tree| fence.reaches(&tree.path));
                for tree in inside {
                    pass.read_base(Base::Worktree, &tree.path, fence);
                }
                let badge = health::repo(&one.repo, outside.len(), &one.problems);
                read.insert(located.common_dir, (one.repo, badge));
            }
        }
    }

    /// Adds the folders of repositories to those whose change means another look, and forgets the
    /// repositories that have gone.
    pub(crate) fn follow(&mut self, repos: &[Repo], hints: &mut Hints) {
        let common_dirs: Vec<_> = repos.iter().map(|repo| repo.common_dir.as_path()).collect();
        self.reader.keep(&common_dirs);
        for common in common_dirs {
            hints.folders.extend([common.to_path_buf(), common.join("worktrees")]);
        }
    }
}
