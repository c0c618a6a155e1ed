//! Which edits git has, by its own files: the commit that is checked out, and when that was.
//!
//! What a file holds has a name by which the commit knows it, whatever the index says.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{FileType, lstat};
use rustix::io::Errno;

use crate::core::model::{Committed, Edit, FileMeta, Repo, RepoSort, Snapshot, Untrusted, Work, Worktree};
use crate::source::os::open::folder::Folder;
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::meta::{is_sure, meta_of};
use crate::source::os::open::plain::{open_plain, read_at, small};
use crate::source::repos::head::{Commit, Held};
use crate::source::repos::objects::{Kind, Name, name_of};

/// How much of a reflog's end is read, in bytes; its lines are about 150 long.
const END: usize = 4 << 10;

/// The largest file that is compared with what git has, in bytes.
const MOST_FILE: u64 = 4 << 20;
/// How much of files is read in one look to compare them, in bytes; the others wait for the next.
const MOST_READ: u64 = 16 << 20;
/// The most files that are remembered.
const MOST_FILES: usize = 8_192;
/// The largest file of attributes that is read, in bytes.
const MOST_ATTRIBUTES: usize = 64 << 10;
/// The attributes by which git has something else than what the file holds.
const FILTERS: [&str; 4] = ["filter", "ident", "working-tree-encoding", "[attr]"];

/// By these a folder shows that some version control keeps what it holds.
const CONTROLLED: [&str; 7] = [".git", ".hg", ".svn", ".jj", ".bzr", ".fslckout", "_FOSSIL_"];

/// What was read in earlier looks and has not changed since.
#[derive(Default)]
pub(crate) struct Kept {
    /// The home in which a person sets what holds for all repositories.
    pub(super) home: Option<PathBuf>,
    /// The commits that working trees have checked out.
    commits: HashMap<PathBuf, Commit>,
    files: HashMap<PathBuf, (FileMeta, Timestamp, Names)>,
}

/// The names that git would give what a file holds.
#[derive(Clone, Copy)]
struct Names {
    own: Name,
    /// That without the carriage returns of its lines, where it has any.
    plain: Option<Name>,
}

/// How what a file holds compares with the commit that is checked out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Same,
    Other,
    /// Git may keep it in another form.
    Filtered,
    Unread,
}

/// Marks which edits git has.
pub(crate) fn mark(work: &mut [&mut Arc<Work>], snapshot: &Snapshot, kept: &mut Kept) {
    let host = &snapshot.host;
    let folders = (snapshot.repos.as_slice(), snapshot.plain_folders.as_slice());
    let mut heads = Heads::new(folders, (snapshot.taken_at, host.clock_doubt), host.uid, kept);
    for work in work {
        let marks: Vec<Committed> = work.doing.edits.iter().map(|edit| heads.committed(edit)).collect();
        if !marks.iter().eq(work.doing.edits.iter().map(|edit| &edit.committed)) {
            let edits = &mut Arc::make_mut(work).doing.edits;
            edits.iter_mut().zip(marks).for_each(|(edit, mark)| edit.committed = mark);
        }
    }
    kept.commits.values_mut().for_each(Commit::rest);
    if kept.files.len() > MOST_FILES {
        kept.files.clear();
    }
}

/// The heads of one look.
struct Heads<'a> {
    /// The working trees, and the folders that lie in none.
    folders: HashMap<&'a Path, Tree<'a>>,
    /// The heads that were read; nothing for one that tells nothing.
    known: HashMap<&'a Path, Option<Head>>,
    /// The commits that were asked for in this look.
    asked: HashSet<&'a Path>,
    /// Whether nothing between each folder and that of `folders` leads elsewhere.
    inner: HashMap<PathBuf, bool>,
    now: Timestamp,
    /// By how much the clock was seen to be set.
    doubt: SignedDuration,
    uid: u32,
    kept: &'a mut Kept,
    /// How much may still be read, in bytes.
    left: u64,
}

/// A working tree; nothing for a folder that lies in none.
type Tree<'a> = Option<(&'a Repo, &'a Worktree)>;

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
        kept: &'a mut Kept,
    ) -> Self {
        let repos = repos.iter().filter(|repo| repo.sort == RepoSort::Git);
        let trees = repos.flat_map(|repo| repo.worktrees.iter().map(move |tree| (repo, tree)));
        let trees = trees.map(|(repo, tree)| (tree.path.as_path(), Some((repo, tree))));
        let plain = plain.iter().map(|folder| (Path::new(folder.raw()), None));
        let folders = plain.chain(trees).collect();
        let (known, asked, inner) = (HashMap::new(), HashSet::new(), HashMap::new());
        Self { folders, known, asked, inner, now, doubt, uid, kept, left: MOST_READ }
    }

    fn committed(&mut self, edit: &Edit) -> Committed {
        self.judge(edit).unwrap_or_default()
    }

    /// Returns whether git has what an edited file holds; `None` where that cannot be told.
    fn judge(&mut self, edit: &Edit) -> Option<Committed> {
        let path = Path::new(edit.path.raw());
        let is_straight = path.is_absolute() && path.components().all(|part| part != Component::ParentDir);
        let above = path.ancestors().skip(1).filter(|_| is_straight);
        let (folder, tree) = above.into_iter().find_map(|above| self.folders.get_key_value(above))?;
        let (folder, tree) = (*folder, *tree);
        let known = self.known.get(folder).copied();
        let head = known.unwrap_or_else(|| match tree {
            Some((repo, tree)) => head_of(repo, tree, self.uid),
            None => is_uncontrolled(folder).then_some(Head::Never),
        });
        self.known.insert(folder, head);
        // What has gone holds nothing, and another repository's file is not this head's.
        let meta = file_at(path).filter(|_| edit.at.is_none_or(|at| at <= self.now))?;
        let (head, inside) = (head?, path.strip_prefix(folder).ok()?);
        if !self.is_inner(path.parent()?, folder) {
            return None;
        }
        let is_later = match head {
            Head::Never => return Some(Committed::No),
            Head::By(at) if at > self.now => return None,
            Head::By(at) => edit
                .at
                .zip(at.checked_add(self.doubt).ok())
                .is_some_and(|(edited, moved)| edited.as_second() > moved.as_second()),
        };
        // Nobody has changed the file since.
        let is_untouched = edit.at.is_some_and(|at| meta.modified_at <= at);
        match self.compare((path, inside), &meta, (folder, tree?)) {
            Content::Same => Some(Committed::Yes),
            Content::Other => (is_later || is_untouched && self.has(folder, inside)).then_some(Committed::No),
            Content::Unread => (is_later && is_untouched).then_some(Committed::No),
            Content::Filtered => None,
        }
    }

    /// Returns whether the commit that is checked out has any file at a path.
    fn has(&mut self, folder: &Path, inside: &Path) -> bool {
        let commit = self.kept.commits.get_mut(folder);
        commit.is_some_and(|commit| matches!(commit.held(inside), Held::File(_)))
    }

    /// Compares what a file holds with the commit that is checked out.
    fn compare(
        &mut self,
        (path, inside): (&Path, &Path),
        meta: &FileMeta,
        (folder, (repo, tree)): (&'a Path, (&Repo, &Worktree)),
    ) -> Content {
        if self.asked.insert(folder) {
            let name = Commit::checked_out(&own_dir(repo, tree), &repo.common_dir);
            let known = self.kept.commits.remove(folder).filter(|commit| Some(commit.name()) == name);
            let commit = known.or_else(|| Some(Commit::new(name?, &repo.common_dir)));
            self.kept.commits.extend(commit.map(|commit| (folder.to_path_buf(), commit)));
        }
        let Some(names) = self.names(path, meta) else { return Content::Unread };
        let held = self.kept.commits.get_mut(folder).map_or(Held::Unread, |commit| commit.held(inside));
        match held {
            Held::File(name) if name == names.own => Content::Same,
            Held::File(name) if Some(name) == names.plain => Content::Filtered,
            Held::File(_) if may_be_filtered(path, folder, &repo.common_dir) => Content::Filtered,
            Held::File(_) if self.may_be_filtered_everywhere(path, &repo.common_dir) => Content::Filtered,
            Held::File(_) | Held::Nothing => Content::Other,
            Held::Unread => Content::Unread,
        }
    }

    /// Returns whether what a person has set for all repositories, or this one's configuration, may
    /// filter a file.
    fn may_be_filtered_everywhere(&self, path: &Path, common: &Path) -> bool {
        let below = |name: &str| self.kept.home.as_ref().map(|home| home.join(name));
        let attributes = ["/etc/gitattributes".into()].into_iter().chain(below(".config/git/attributes"));
        let configured = ["/etc/gitconfig".into(), common.join("config"), common.join("config.worktree")];
        let own = below(".gitconfig").into_iter().chain(below(".config/git/config"));
        any_line(attributes, |line| names_filter(line, path))
            || any_line(configured.into_iter().chain(own), names_more)
    }

    /// Names what a file holds; nothing where too much would have to be read.
    fn names(&mut self, path: &Path, meta: &FileMeta) -> Option<Names> {
        if let Some((known, read_at, names)) = self.kept.files.get(path)
            && known == meta
            && is_sure(*read_at, meta.touched_at())
        {
            return Some(*names);
        }
        self.left = self.left.checked_sub(meta.size).filter(|_| meta.size <= MOST_FILE)?;
        let (fd, opened) = open_plain(path).ok().filter(|(_, opened)| opened == meta)?;
        let text = read_at(&fd, 0, usize::try_from(opened.size).ok()?, 1).ok()?;
        let has_returns = text.windows(2).any(|pair| pair == b"\r\n");
        let plain = || {
            let next = text.iter().skip(1).map(Some).chain([None]);
            let kept = text.iter().zip(next).filter(|pair| !matches!(pair, (b'\r', Some(b'\n'))));
            name_of(Kind::Blob, &kept.map(|(byte, _)| *byte).collect::<Vec<u8>>())
        };
        let names = Names { own: name_of(Kind::Blob, &text), plain: has_returns.then(plain) };
        self.kept.files.insert(path.to_path_buf(), (*meta, self.now, names));
        Some(names)
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

/// Returns what is known of a plain file.
fn file_at(path: &Path) -> Option<FileMeta> {
    let stat = lstat(path).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| meta_of(&stat))
}

/// Returns whether git may keep a file in another form than it has in its working tree.
fn may_be_filtered(path: &Path, top: &Path, common: &Path) -> bool {
    let above = path.ancestors().skip(1).take_while(|above| above.starts_with(top));
    let own = above.map(|above| above.join(".gitattributes"));
    any_line(own.chain([common.join("info/attributes")]), |line| names_filter(line, path))
}

/// Returns whether a line of any of these files is so, or one of them cannot be read.
fn any_line(files: impl IntoIterator<Item = PathBuf>, is_so: impl Fn(&str) -> bool) -> bool {
    files.into_iter().any(|file| match small(&file, MOST_ATTRIBUTES) {
        Ok(text) => String::from_utf8_lossy(&text).lines().any(&is_so),
        Err(error) => error != Errno::NOENT && error != Errno::NOTDIR,
    })
}

/// Returns whether a line of git's configuration names more attributes, or another file that may.
fn names_more(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    line.starts_with("attributesfile")
        || line.starts_with("[include")
        || line.starts_with("[core") && line.contains("attributesfile")
}

/// Returns whether no version control is at work in a folder or above it, as far as a name can tell.
fn is_uncontrolled(folder: &Path) -> bool {
    folder.ancestors().all(|above| CONTROLLED.iter().all(|name| is_absent(&above.join(name))))
}

/// Returns whether a line of attributes may filter a file. Of its patterns only `*.end` is understood.
fn names_filter(line: &str, path: &Path) -> bool {
    let is_filter = FILTERS.iter().any(|filter| line.contains(filter)) && !line.trim().starts_with('#');
    let end = line.split_whitespace().next().and_then(|pattern| pattern.strip_prefix("*."));
    let end = end.filter(|end| end.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    // To git `.env` has an end, too.
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let fits = |end: &str| name.ends_with(&format!(".{}", end.to_ascii_lowercase()));
    is_filter && end.is_none_or(fits)
}

/// Returns the folder in which git keeps what is a working tree's own.
fn own_dir(repo: &Repo, tree: &Worktree) -> PathBuf {
    match tree.id.as_str() {
        "" => repo.common_dir.clone(),
        id => repo.common_dir.join("worktrees").join(id),
    }
}

/// Returns whether there is certainly nothing.
fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Returns when a working tree's head moved last, by its reflog.
fn head_of(repo: &Repo, tree: &Worktree, uid: u32) -> Option<Head> {
    let own = own_dir(repo, tree);
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
mod tests;
