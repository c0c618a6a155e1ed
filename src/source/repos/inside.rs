//! Who works in a working tree that an agent made, or has a file of it open.
//!
//! That costs a look at every open file of the machine: so nobody is asked while a window is known to
//! work in the tree, and an answer is kept for a while.

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

/// Asks who works in trees, and keeps the answers.
#[derive(Default)]
pub(crate) struct Reader {
    known: HashMap<PathBuf, (Users, Timestamp)>,
}

impl Reader {
    /// Lets the next look ask again.
    pub(crate) fn renew(&mut self) {
        self.known.clear();
    }

    /// Adds who works in those trees of a repository that an agent made.
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
        // Nobody works in a folder that is not there.
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

/// Returns whether somebody who matters anyway works in a tree.
fn is_worked_in(tree: &Worktree, table: &ProcessTable) -> bool {
    let mut living = table.by_pid.values().filter(|process| !has_exited(process));
    living.any(|process| {
        let cwd = process.details.as_ref().and_then(|details| details.cwd.as_ref());
        cwd.is_some_and(|cwd| Path::new(cwd.raw()).starts_with(&tree.path))
    })
}
