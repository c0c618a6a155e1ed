//! Which edits no commit can hold, by git's own files: no process and no object is asked.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustix::io::Errno;

use crate::core::model::{Committed, Edit, Repo, RepoSort, Snapshot, Untrusted, Work, Worktree};
use crate::source::os::open::folder::Folder;
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::plain::{open_plain, read_at};

/// How much of a reflog's end is read, in bytes; its lines are about 150 long.
const END: usize = 4 << 10;

/// Marks the edits that no commit can hold.
pub(crate) fn mark(work: &mut [&mut Arc<Work>], snapshot: &Snapshot) {
    let host = &snapshot.host;
    let folders = (snapshot.repos.as_slice(), snapshot.plain_folders.as_slice());
    let mut heads = Heads::new(folders, (snapshot.taken_at, host.clock_doubt), host.uid);
    for work in work {
        let marks: Vec<Committed> = work.doing.edits.iter().map(|edit| heads.committed(edit)).collect();
        if !marks.iter().eq(work.doing.edits.iter().map(|edit| &edit.committed)) {
            let edits = &mut Arc::make_mut(work).doing.edits;
            edits.iter_mut().zip(marks).for_each(|(edit, mark)| edit.committed = mark);
        }
    }
}

/// The heads of one look.
struct Heads<'a> {
    /// The working trees, and the folders that lie in none.
    folders: HashMap<&'a Path, Option<(&'a Repo, &'a Worktree)>>,
    /// The heads that were read; nothing for one that tells nothing.
    known: HashMap<&'a Path, Option<Head>>,
    /// Whether nothing between each folder and that of `folders` leads elsewhere.
    inner: HashMap<PathBuf, bool>,
    now: Timestamp,
    /// By how much the clock was seen to be set.
    doubt: SignedDuration,
    uid: u32,
}

/// When the last commit can have been made.
#[derive(Clone, Copy)]
enum Head {
    /// By then: since then the head has not moved.
    By(Timestamp),
    /// There is none.
    Never,
}

impl<'a> Heads<'a> {
    fn new(
        (repos, plain): (&'a [Repo], &'a [Untrusted]),
        (now, doubt): (Timestamp, SignedDuration),
        uid: u32,
    ) -> Self {
        let repos = repos.iter().filter(|repo| repo.sort == RepoSort::Git);
        let trees = repos.flat_map(|repo| repo.worktrees.iter().map(move |tree| (repo, tree)));
        let trees = trees.map(|(repo, tree)| (tree.path.as_path(), Some((repo, tree))));
        let plain = plain.iter().map(|folder| (Path::new(folder.raw()), None));
        let folders = plain.chain(trees).collect();
        Self { folders, known: HashMap::new(), inner: HashMap::new(), now, doubt, uid }
    }

    fn committed(&mut self, edit: &Edit) -> Committed {
        if self.is_new(edit) == Some(true) { Committed::No } else { Committed::Unknown }
    }

    /// Returns whether an edit is later than every commit, where its folder's head tells.
    fn is_new(&mut self, edit: &Edit) -> Option<bool> {
        let path = Path::new(edit.path.raw());
        let is_straight = path.is_absolute() && path.components().all(|part| part != Component::ParentDir);
        let above = path.ancestors().skip(1).filter(|_| is_straight);
        let (folder, tree) = above.into_iter().find_map(|above| self.folders.get_key_value(above))?;
        let (folder, tree) = (*folder, *tree);
        let known = self.known.get(folder).copied();
        let head = known.unwrap_or_else(|| match tree {
            Some((repo, tree)) => head_of(repo, tree, self.uid),
            None => Some(Head::Never),
        });
        self.known.insert(folder, head);
        if edit.at.is_some_and(|at| at > self.now) {
            return None;
        }
        let is_later = match head? {
            Head::Never => true,
            Head::By(at) if at > self.now => return None,
            Head::By(at) => edit.at?.as_second() > at.checked_add(self.doubt).ok()?.as_second(),
        };
        // What has gone holds nothing, and another repository's file is not this head's.
        Some(is_later && is_file(path) && self.is_inner(path.parent()?, folder))
    }

    /// Returns whether a folder lies in another without a link or a repository in between.
    fn is_inner(&mut self, folder: &Path, outer: &Path) -> bool {
        if folder == outer {
            return true;
        }
        if let Some(known) = self.inner.get(folder) {
            return *known;
        }
        let is_plain =
            folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) && is_absent(&folder.join(".git"));
        let is_inner = is_plain && folder.parent().is_some_and(|above| self.is_inner(above, outer));
        self.inner.insert(folder.to_path_buf(), is_inner);
        is_inner
    }
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}

/// Returns whether there is certainly nothing.
fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Returns when a working tree's head moved last, by its reflog.
fn head_of(repo: &Repo, tree: &Worktree, uid: u32) -> Option<Head> {
    let own = match tree.id.as_str() {
        "" => repo.common_dir.clone(),
        id => repo.common_dir.join("worktrees").join(id),
    };
    // Jujutsu commits what it finds without moving git's head.
    if !is_absent(&tree.path.join(".jj")) {
        return None;
    }
    let log = own.join("logs/HEAD");
    match open_plain(&log) {
        Ok((fd, meta)) => {
            let is_ours = meta.links == 1 && meta.ownership.uid == uid;
            if !is_ours || !medium_at(&log).is_this_machines() {
                return None;
            }
            let from = meta.size.saturating_sub(END as u64);
            let end = read_at(&fd, from, END, 0).ok()?;
            let is_whole = from + end.len() as u64 == meta.size;
            let moved_at = last_move(&end, from == 0).filter(|_| is_whole)?;
            // A line bears the committer's date, which anybody can set, and lines can be deleted.
            Some(Head::By(moved_at.max(meta.modified_at)))
        }
        Err(Errno::NOENT) => is_unborn(repo, tree).then_some(Head::Never),
        Err(_) => None,
    }
}

/// Returns the moment of a reflog's last line: `old new Name <mail> seconds zone`, a tab, a message.
fn last_move(end: &[u8], has_all: bool) -> Option<Timestamp> {
    let lines = end.strip_suffix(b"\n")?;
    let start = lines.iter().rposition(|byte| *byte == b'\n');
    let line = match start {
        Some(start) => lines.get(start + 1..)?,
        None if has_all => lines,
        None => return None,
    };
    let who = line.split(|byte| *byte == b'\t').next()?;
    let at = who.rsplit(|byte| *byte == b'>').next()?;
    let (seconds, zone) = str::from_utf8(at).ok()?.trim_start().split_once(' ')?;
    let has_zone = zone.starts_with(['+', '-']);
    Timestamp::from_second(seconds.parse().ok().filter(|_| has_zone)?).ok()
}

/// Returns whether a repository is certain to have no commit yet: no branch, loose or packed. That
/// there is no reflog says nothing, for git can be told to keep none.
fn is_unborn(repo: &Repo, tree: &Worktree) -> bool {
    let branches = || Folder::open(&repo.common_dir.join("refs/heads"))?.entries(|_| true);
    tree.id.is_empty()
        && tree.branch.is_some()
        && is_absent(&repo.common_dir.join("packed-refs"))
        && branches().is_ok_and(|branches| branches.is_empty())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes and removes its own files")]
mod tests {
    use super::*;

    use std::time::{Duration, SystemTime};

    const MOVED: i64 = 1_700_000_000;

    /// A repository, made by hand, with a linked working tree and a file in each.
    struct Stage {
        folder: tempfile::TempDir,
        repo: Repo,
    }

    impl Stage {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            let tree = |path: &str, id: &str| Worktree {
                path: root.join(path),
                id: id.to_owned(),
                branch: Some("main".into()),
                exists: true,
                locked: None,
            };
            let worktrees = vec![tree("shop", ""), tree("shop-pay", "pay")];
            let repo = Repo { common_dir: root.join("shop/.git"), worktrees, ..Repo::default() };
            let stage = Self { folder, repo };
            for path in ["shop/.git/refs/heads", "shop/.git/worktrees/pay/logs", "shop/src", "notes/old"] {
                std::fs::create_dir_all(stage.at(path)).unwrap();
            }
            for file in ["shop/src/a.rs", "shop-pay/src/a.rs", "notes/a.md", "notes/old/b.md"] {
                stage.write(file, "");
            }
            stage
        }

        fn at(&self, path: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.at(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        /// Writes a reflog that was last written when its last line says.
        fn log(&self, path: &str, text: &str) {
            self.write(path, text);
            let moved = SystemTime::UNIX_EPOCH + Duration::from_secs(MOVED.unsigned_abs());
            std::fs::File::options().write(true).open(self.at(path)).unwrap().set_modified(moved).unwrap();
        }

        /// Asks about an edit so many seconds after the head moved.
        fn ask(&self, path: &str, seconds: i64) -> Committed {
            self.ask_by(path, seconds, SignedDuration::ZERO)
        }

        fn ask_by(&self, path: &str, seconds: i64, doubt: SignedDuration) -> Committed {
            let repos = [self.repo.clone()];
            let plain = [Untrusted::from_path(&self.at("notes"))];
            let now = Timestamp::from_second(MOVED + 1_000).unwrap();
            let uid = rustix::process::geteuid().as_raw();
            let edit = Edit {
                path: Untrusted::from_path(&self.at(path)),
                at: Some(Timestamp::from_second(MOVED + seconds).unwrap()),
                by: None,
                committed: Committed::Unknown,
            };
            Heads::new((&repos, &plain), (now, doubt), uid).committed(&edit)
        }
    }

    fn line(seconds: i64) -> String {
        format!(
            "{} {} Ann > Lee <a@b> {seconds} +0100\tcommit: new > old 5 +0000\n",
            "0".repeat(40),
            "1".repeat(40)
        )
    }

    #[test]
    fn an_edit_after_the_head_moved_is_in_no_commit() {
        let stage = Stage::new();
        stage.log("shop/.git/logs/HEAD", &(line(MOVED - 50) + &line(MOVED)));
        stage.log("shop/.git/worktrees/pay/logs/HEAD", &line(MOVED - 500));
        for (path, seconds, expected) in [
            ("shop/src/a.rs", 1, Committed::No),
            ("shop/src/a.rs", 0, Committed::Unknown),
            ("shop/src/a.rs", -20, Committed::Unknown),
            ("shop-pay/src/a.rs", 1, Committed::No),
            // Its reflog was written later than its last line says.
            ("shop-pay/src/a.rs", -100, Committed::Unknown),
            // A later moment than now.
            ("shop/src/a.rs", 1_001, Committed::Unknown),
            ("shop/src/gone.rs", 1, Committed::Unknown),
            ("shop/../shop/src/a.rs", 1, Committed::Unknown),
            ("elsewhere/a.rs", 1, Committed::Unknown),
            ("notes/a.md", 1, Committed::No),
            ("notes/old/b.md", -900, Committed::No),
            ("notes/a.md", 1_001, Committed::Unknown),
        ] {
            assert_eq!(stage.ask(path, seconds), expected, "{path} {seconds}");
        }
    }

    #[test]
    fn a_clock_that_was_set_tells_nothing_of_what_was_close() {
        let stage = Stage::new();
        stage.log("shop/.git/logs/HEAD", &line(MOVED));
        let doubt = SignedDuration::from_secs(60);
        assert_eq!(stage.ask_by("shop/src/a.rs", 60, doubt), Committed::Unknown);
        assert_eq!(stage.ask_by("shop/src/a.rs", 61, doubt), Committed::No);
        stage.log("shop/.git/logs/HEAD", &line(MOVED + 2_000));
        assert_eq!(stage.ask("shop/src/a.rs", 900), Committed::Unknown);
    }

    #[test]
    fn a_reflog_that_is_none_tells_nothing() {
        let stage = Stage::new();
        let cut = line(MOVED);
        for text in [
            "",
            "\n",
            cut.trim_end(),
            "no line\n",
            &"x".repeat(9_000),
            &(cut.clone() + "0 1 A <b> x +0000\n"),
        ] {
            stage.log("shop/.git/logs/HEAD", text);
            assert_eq!(stage.ask("shop/src/a.rs", 1), Committed::Unknown, "{text:.80}");
        }
        stage.log("shop/.git/logs/HEAD", &line(MOVED).repeat(100));
        assert_eq!(stage.ask("shop/src/a.rs", 1), Committed::No);
        std::fs::rename(stage.at("shop/.git/logs/HEAD"), stage.at("log")).unwrap();
        std::os::unix::fs::symlink(stage.at("log"), stage.at("shop/.git/logs/HEAD")).unwrap();
        assert_eq!(stage.ask("shop/src/a.rs", 1), Committed::Unknown, "a link");
    }

    #[test]
    fn a_repository_without_a_branch_has_no_commit() {
        let stage = Stage::new();
        assert_eq!(stage.ask("shop/src/a.rs", -900), Committed::No);
        assert_eq!(stage.ask("shop-pay/src/a.rs", -900), Committed::Unknown);
        stage.write("shop/.git/refs/heads/topic/a", "");
        assert_eq!(stage.ask("shop/src/a.rs", -900), Committed::Unknown);
    }

    #[test]
    fn packed_branches_are_branches() {
        let stage = Stage::new();
        stage.write("shop/.git/packed-refs", "");
        assert_eq!(stage.ask("shop/src/a.rs", -900), Committed::Unknown);
    }

    #[test]
    fn a_file_of_another_repository_is_not_this_heads() {
        let stage = Stage::new();
        stage.log("shop/.git/logs/HEAD", &line(MOVED));
        stage.write("shop/vendor/lib/src/b.rs", "");
        assert_eq!(stage.ask("shop/vendor/lib/src/b.rs", 1), Committed::No);
        std::os::unix::fs::symlink(stage.at("shop-pay/src"), stage.at("shop/link")).unwrap();
        assert_eq!(stage.ask("shop/link/a.rs", 1), Committed::Unknown);
        stage.write("shop/vendor/lib/.git", "gitdir: elsewhere");
        assert_eq!(stage.ask("shop/vendor/lib/src/b.rs", 1), Committed::Unknown);
        stage.write("notes/old/.git", "gitdir: elsewhere");
        assert_eq!(stage.ask("notes/old/b.md", 1), Committed::Unknown);
        stage.write("shop/.jj/repo", "");
        assert_eq!(stage.ask("shop/src/a.rs", 1), Committed::Unknown);
    }
}
