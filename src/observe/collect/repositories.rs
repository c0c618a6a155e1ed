//! Reads the repositories that a look has found, and the records in their folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::core::model::snapshot::{BRANCHES, OF_ENTIRE};
use crate::core::model::{Record, Repo, ResourceKind, SourceHealth};
use crate::format::Base;
use crate::observe::collect::found::{Discoveries, Roots};
use crate::observe::collect::health;
use crate::observe::collect::pass::Pass;
use crate::source::interface::Hints;
use crate::source::os::fence::Fence;
use crate::source::repos::refs::has_branch;
use crate::source::repos::{InsideReader, Reader, UsersReader};

/// The repositories of one look by common directory, as they were read.
pub(crate) type RepositoryReadings = BTreeMap<PathBuf, (Repo, SourceHealth)>;

/// Reads repositories repeatedly.
#[derive(Default)]
pub(crate) struct Repositories {
    reader: Reader,
    pub(crate) roots: Roots,
    pub(crate) users: UsersReader,
    pub(crate) inside: InsideReader,
}

impl Repositories {
    /// Reads the repositories that were found and not read yet, and once more those that their records name.
    pub(crate) fn read(
        &mut self,
        found: &mut Discoveries,
        pass: &mut Pass<'_>,
        read: &mut RepositoryReadings,
        fence: &Fence,
    ) {
        for _ in 0..2 {
            found.add(pass.new_cwds(), fence);
            for located in found.unread() {
                let mut one = self.reader.read(&located, fence);
                // A linked tree that was named alone has its repository outside the fence.
                if !located.common_dir.is_file() {
                    pass.read_base(Base::GitCommon, &located.common_dir, fence);
                }
                let trees = one.repo.worktrees.iter().filter(|tree| tree.exists);
                let (inside, outside): (Vec<_>, Vec<_>) = trees.partition(|tree| fence.reaches(&tree.path));
                for tree in inside {
                    pass.read_base(Base::Worktree, &tree.path, fence);
                }
                let claimed = claimed_branches(&pass.records, &one.repo);
                let found = claimed.into_iter().filter_map(|name| {
                    let is_there = has_branch(&one.repo.common_dir, &name)?;
                    Some((name, is_there))
                });
                one.repo.claimed_branches = found.collect();
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

/// The most branches that are looked up in one repository.
const MAX_BRANCHES: usize = 64;

/// Returns the branches that records in a repository's working trees claim, except entire's, which are read anyway.
fn claimed_branches(records: &[Arc<Record>], repo: &Repo) -> BTreeSet<String> {
    let is_here = |record: &&Arc<Record>| {
        let folder = record.cwd.as_deref();
        folder.is_some_and(|folder| repo.worktrees.iter().any(|tree| folder.starts_with(&tree.path)))
    };
    let claims =
        |record: &Arc<Record>| record.claims.iter().any(|claim| claim.resource.kind == ResourceKind::Branch);
    let claiming = records.iter().filter(|record| claims(record)).filter(is_here);
    let claimed = claiming.flat_map(|record| &record.claims);
    let branches = claimed.filter(|claim| claim.resource.kind == ResourceKind::Branch);
    let names = branches.map(|claim| claim.resource.id.raw());
    let names = names.map(|name| name.strip_prefix(BRANCHES).unwrap_or(name).to_owned());
    names.filter(|name| !name.starts_with(OF_ENTIRE)).take(MAX_BRANCHES).collect()
}
