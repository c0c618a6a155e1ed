//! Files that are provably not there, also where their folder, or the top of their working tree, is gone.

use std::path::Path;

use crate::core::model::{CommitState, EditFate, EditState};
use crate::source::work::committed::head::{is_absent, is_uncontrolled};
use crate::source::work::committed::{Heads, Tree, file_at};

impl Heads<'_> {
    /// Returns whether a folder lies in another without a link or a repository in between, or did so as long as it
    /// existed: it may be gone, or a file may be there now; so may the top of a linked working tree, of which git still
    /// has its own files.
    pub(super) fn is_inner_or_gone(&mut self, folder: &Path, (outer, tree): (&Path, Tree<'_>)) -> bool {
        if is_absent(outer) {
            // Another person's lock says that it is elsewhere now, such as on a disk that is not mounted.
            return tree.is_some_and(|(_, tree)| tree.is_gone && tree.locked.is_none());
        }
        let is_there = |folder: &&Path| folder.symlink_metadata().is_ok() && file_at(folder).is_none();
        let there = folder.ancestors().find(is_there);
        there.is_some_and(|there| there.starts_with(outer) && self.is_inner(there, outer))
    }

    /// Returns the fate of an edit of a file that lies in no working tree, but above a window's folder: gone if its own
    /// folder is there without it, and no version control is at work.
    pub(super) fn missing_above(&self, path: &Path) -> Option<EditFate> {
        let folder = path.parent()?;
        self.folders.iter().find(|(place, tree)| tree.is_none() && place.starts_with(folder))?;
        let is_plain = folder.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let is_gone = is_plain && Self::is_straight(path) && is_absent(path) && is_uncontrolled(folder);
        let fate = EditFate { committed: CommitState::No, state: EditState::Gone, ..EditFate::default() };
        is_gone.then(|| fate.since(path, None))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes and removes its own files, and runs git")]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;
    use std::time::SystemTime;

    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::core::model::{Edit, Repo, Untrusted};
    use crate::source::os::fence::Fence;
    use crate::source::repos::locate::repository_at;
    use crate::source::repos::worktrees;
    use crate::source::work::committed::{CommitCache, EditFacts};

    /// A repository with a linked working tree and a submodule, and a folder without git.
    struct World {
        folder: tempfile::TempDir,
        plain: Vec<Untrusted>,
    }

    impl World {
        fn new() -> Self {
            let world = Self { folder: tempfile::tempdir().unwrap(), plain: Vec::new() };
            for below in ["shop/src", "notes/old"] {
                std::fs::create_dir_all(world.at(below)).unwrap();
            }
            world.write("shop/src/a.rs", "first\n");
            world.git("shop", &["init", "-q", "-b", "main"]);
            world.git("shop", &["add", "-A"]);
            world.git("shop", &["commit", "-qm", "first"]);
            world.git("shop", &["worktree", "add", "-q", "../shop-pay", "-b", "pay"]);
            world
        }

        fn at(&self, below: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(below)
        }

        fn write(&self, below: &str, text: &str) {
            std::fs::write(self.at(below), text).unwrap();
        }

        fn git(&self, below: &str, arguments: &[&str]) {
            let mut git = Command::new("git");
            git.arg("-C").arg(self.at(below)).env("GIT_CONFIG_GLOBAL", "/dev/null");
            git.args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(arguments);
            assert!(git.status().unwrap().success(), "{arguments:?}");
        }

        /// Returns the state of an edit of a file that was made after everything else.
        fn state(&self, below: &str) -> EditState {
            let now = Timestamp::try_from(SystemTime::now()).unwrap() + SignedDuration::from_secs(100);
            let located = repository_at(&self.at("shop"), &Fence::default()).unwrap();
            let worktrees = worktrees::read(&located, &Fence::default(), &mut Vec::new());
            let repos = [Repo { common_dir: located.common_dir, worktrees, ..Repo::default() }];
            let at = now - SignedDuration::from_secs(50);
            let edit = Edit::new(Untrusted::from_path(&self.at(below)), Some(at));
            let mut kept = CommitCache::default();
            let uid = rustix::process::geteuid().as_raw();
            let mut heads = Heads::new((&repos, &self.plain), (now, SignedDuration::ZERO), uid, &mut kept);
            let fate = heads.fate(&edit, EditFacts::default());
            assert_eq!(fate.since.is_some(), fate.state == EditState::Gone, "{fate:?}");
            fate.state
        }
    }

    #[test]
    fn what_was_in_a_linked_tree_that_is_gone_is_gone_unless_git_says_otherwise() {
        let world = World::new();
        std::fs::remove_dir_all(world.at("shop-pay")).unwrap();
        assert_eq!(world.state("shop-pay/src/new.rs"), EditState::Gone);
        assert_eq!(world.state("shop-pay/src/a.rs"), EditState::Gone);
        world.git("shop", &["worktree", "lock", "--reason", "on a disk", "../shop-pay"]);
        assert_eq!(world.state("shop-pay/src/new.rs"), EditState::Unknown, "it may be on another disk");
        world.git("shop", &["worktree", "unlock", "../shop-pay"]);
        world.git("shop", &["worktree", "prune"]);
        assert_eq!(world.state("shop-pay/src/new.rs"), EditState::Unknown, "its branch may have it");
    }

    #[test]
    fn what_was_staged_in_a_linked_tree_that_is_gone_is_not_called_gone() {
        let world = World::new();
        world.write("shop-pay/src/new.rs", "new\n");
        world.git("shop-pay", &["add", "-A"]);
        std::fs::remove_dir_all(world.at("shop-pay")).unwrap();
        assert_eq!(world.state("shop-pay/src/new.rs"), EditState::Unknown);
    }

    #[test]
    fn a_file_whose_folder_is_a_file_now_is_gone() {
        let world = World::new();
        std::fs::create_dir(world.at("shop/lib")).unwrap();
        assert_eq!(world.state("shop/lib/b.rs"), EditState::Gone);
        std::fs::remove_dir(world.at("shop/lib")).unwrap();
        world.write("shop/lib", "a file\n");
        assert_eq!(world.state("shop/lib/b.rs"), EditState::Gone);
        std::fs::remove_file(world.at("shop/lib")).unwrap();
        std::os::unix::fs::symlink(world.at("notes"), world.at("shop/lib")).unwrap();
        assert_eq!(world.state("shop/lib/b.rs"), EditState::Unknown, "a link leads elsewhere");
    }

    #[test]
    fn without_git_a_file_that_is_missing_in_its_folder_is_gone() {
        let mut world = World::new();
        assert_eq!(world.state("notes/c.md"), EditState::Unknown, "no window works there");
        world.plain = vec![Untrusted::from_path(&world.at("notes/old"))];
        assert_eq!(world.state("notes/c.md"), EditState::Gone, "a window works below it");
        assert_eq!(world.state("notes/old/none/c.md"), EditState::Gone);
        assert_eq!(world.state("notes/none/c.md"), EditState::Unknown, "that may have been a working tree");
        std::fs::create_dir(world.at("notes/.hg")).unwrap();
        assert_eq!(world.state("notes/c.md"), EditState::Unknown);
    }
}
