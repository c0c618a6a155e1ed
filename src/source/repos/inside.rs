//! Which processes work in a working tree that an agent made, or have a file of it open.
//!
//! That costs a look at every open file of the machine. So processes are not searched while a window is known to work
//! in the tree, and an answer is kept for a while.
//!

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rustix::fs::stat;

use super::users::of_places;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{ProcessTable, Repo, Users, Worktree};
use crate::source::os::mounts;

/// How long an answer is good: 2 min.
const GOOD_FOR: SignedDuration = SignedDuration::from_mins(2);

/// Finds the processes that work in trees, and keeps the answers.
#[derive(Default)]
pub(crate) struct Reader {
    known: HashMap<PathBuf, (Users, Timestamp)>,
}

impl Reader {
    /// Makes the next look search again.
    pub(crate) fn renew(&mut self) {
        self.known.clear();
    }

    /// Adds the processes that work in those trees of a repository that an agent made.
    pub(crate) fn fill(&mut self, repo: &mut Repo, table: &ProcessTable, now: Timestamp) {
        self.known.retain(|_, (_, at)| now.duration_since(*at).abs() < GOOD_FOR);
        for tree in &mut repo.worktrees {
            if tree.made.is_some() && !is_worked_in(tree, table) {
                let users = self.users(tree, table, now);
                tree.made.iter_mut().for_each(|made| made.users.clone_from(&users));
            }
        }
    }

    fn users(&mut self, tree: &Worktree, table: &ProcessTable, now: Timestamp) -> Option<Users> {
        // No process works in a folder that does not exist.
        if tree.is_gone {
            return Some(Users::default());
        }
        if let Some((users, _)) = self.known.get(&tree.path) {
            return Some(users.clone());
        }
        let owner = stat(&tree.path).ok()?.st_uid;
        let place = mounts::place(&tree.path.canonicalize().ok()?)?;
        let users = of_places(vec![place], Some([owner].into()), table);
        self.known.insert(tree.path.clone(), (users.clone(), now));
        Some(users)
    }
}

/// Returns whether a process read in detail works in a tree.
fn is_worked_in(tree: &Worktree, table: &ProcessTable) -> bool {
    let mut living = table.by_pid.values().filter(|process| !has_exited(process));
    living.any(|process| {
        let cwd = process.details.as_ref().and_then(|details| details.cwd.as_ref());
        cwd.is_some_and(|cwd| Path::new(cwd.raw()).starts_with(&tree.path))
    })
}
