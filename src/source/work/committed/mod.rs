//! Which edits git has, by its own files: the commit that is checked out, and when that was.
//!
//! The content of a file has a name by which the commit knows it, whatever the index says.
//!

mod attributes;
mod extent;
mod fate;
mod head;
mod left;
pub(crate) mod marker;
mod missing;
mod moved;
mod past;
mod reflog;
pub(crate) mod standing;

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{FileType, lstat};
use rustix::io::Errno;

use crate::core::model::{EditFate, FileMeta, Repo, RepoSort, Untrusted, Worktree};
use crate::source::os::open::meta::{is_sure, meta_of};
use crate::source::os::open::plain::{open_plain, read_at};
use crate::source::repos::head::{Commit, CommitContent};
use crate::source::repos::index::{Index, IndexContent};
use crate::source::repos::objects::{Kind, Name, Short, name_of, short};
use crate::source::work::committed::attributes::{names_filter, names_more, text_of};
use crate::source::work::committed::head::{Head, head_of, is_absent, is_uncontrolled, own_dir};
pub(crate) use crate::source::work::committed::left::EditFacts;
use crate::source::work::committed::left::{LeftContent, Listing, SeenText, TreeMark};
use crate::source::work::committed::reflog::Log;
pub(crate) use crate::source::work::committed::reflog::{head_at, just_moved_to};

/// The largest file that is compared with what git has, in bytes.
const MOST_FILE: u64 = 4 << 20;
/// The largest file whose content is named on its own, in bytes.
const MOST_NAMED: u64 = 1 << 20;
/// How much of files is read in one look to compare them, in bytes; the others wait for the next.
const MOST_READ: u64 = 16 << 20;
/// The most files that are remembered.
const MOST_FILES: usize = 8_192;
/// The most commits that are remembered beside those that are checked out.
const MOST_PAST: usize = 64;

/// What was read in earlier looks and has not changed since.
#[derive(Default)]
pub(crate) struct CommitCache {
    /// The home in which a person sets what holds for all repositories.
    pub(super) home: Option<PathBuf>,
    /// The commits that working trees have checked out.
    commits: HashMap<PathBuf, Commit>,
    /// Other commits that they had checked out, and what was stashed there.
    past: HashMap<Name, Commit>,
    indexes: HashMap<PathBuf, Index>,
    files: HashMap<PathBuf, (FileMeta, Timestamp, Names)>,
    /// What edits left, by their files and moments.
    left: HashMap<EditKey, LeftContent>,
    /// How many bytes the texts in `left` have.
    left_bytes: usize,
    /// Edits whose files were found renamed.
    moved: HashSet<EditKey>,
    /// Edited files as they were last seen.
    seen: HashMap<PathBuf, SeenText>,
    /// How many bytes the texts in `seen` have.
    seen_bytes: usize,
    /// What became of edits, and what that was determined by.
    fates: HashMap<EditKey, (Option<FileMeta>, TreeMark, EditFate)>,
}

/// An edited file, and when it was edited.
type EditKey = (PathBuf, Timestamp);

/// The names that git would give a file's content.
#[derive(Clone, Copy)]
struct Names {
    own: Name,
    /// The name without carriage returns at line ends, if there are any.
    plain: Option<Name>,
}

/// How a file's content compares with the checked out commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Same,
    Other,
    /// Git may keep it in another form.
    Filtered,
    Unread,
}

/// Names the content of a plain file as git would, if that is at most 1 MiB.
pub(crate) fn name_held(path: &Path) -> Option<Short> {
    let (fd, meta) = open_plain(path).ok().filter(|(_, meta)| meta.size <= MOST_NAMED)?;
    let text = read_at(&fd, 0, usize::try_from(meta.size).ok()?, 1).ok()?;
    Some(short(&name_of(Kind::Blob, &text)))
}

impl CommitCache {
    /// Ends a look, and keeps the results.
    fn rest(&mut self) {
        self.commits.values_mut().chain(self.past.values_mut()).for_each(Commit::end_look);
        self.indexes.values_mut().for_each(Index::end_look);
        if self.files.len() > MOST_FILES {
            self.files.clear();
        }
        if self.past.len() > MOST_PAST {
            self.past.clear();
        }
        if self.moved.len() > MOST_FILES {
            self.moved.clear();
        }
        if self.fates.len() > MOST_FILES {
            self.fates.clear();
        }
    }
}

/// The heads of one look.
struct Heads<'a> {
    /// The working trees, and the folders outside of any.
    folders: HashMap<&'a Path, Tree<'a>>,
    /// The heads that were read; nothing for one that is inconclusive.
    known: HashMap<&'a Path, Option<Head>>,
    /// The commits that were asked for in this look.
    asked: HashSet<&'a Path>,
    /// Since when commits have been there.
    there: HashMap<Name, Option<Timestamp>>,
    /// What a fate in each working tree is determined by beside the file.
    marks: HashMap<&'a Path, Option<TreeMark>>,
    /// The logs of stashes.
    stashes: HashMap<&'a Path, Result<Option<Log>, Errno>>,
    /// The attributes and configurations that were read in this look; nothing for an unreadable one.
    texts: HashMap<PathBuf, Option<String>>,
    /// The files of working trees that were changed lately.
    listings: HashMap<&'a Path, Listing>,
    /// When each file was edited by any session, if all edits are known.
    edits: HashMap<PathBuf, Vec<Timestamp>>,
    /// Whether each folder is reached from that of `folders` without a link or a repository in between.
    inner: HashMap<PathBuf, bool>,
    now: Timestamp,
    /// How far the clock was seen to be set.
    doubt: SignedDuration,
    uid: u32,
    kept: &'a mut CommitCache,
    /// How much may still be read, in bytes.
    left: u64,
}

/// The place of a file.
struct FileInTree<'a, 'b> {
    /// The top of its working tree.
    folder: &'a Path,
    /// Its path below that.
    inside: &'b Path,
    tree: (&'a Repo, &'a Worktree),
}

/// A working tree; nothing for a folder outside of any.
type Tree<'a> = Option<(&'a Repo, &'a Worktree)>;

impl<'a> Heads<'a> {
    fn new(
        (repos, plain): (&'a [Repo], &'a [Untrusted]),
        (now, doubt): (Timestamp, SignedDuration),
        uid: u32,
        kept: &'a mut CommitCache,
    ) -> Self {
        let repos = repos.iter().filter(|repo| repo.sort == RepoSort::Git);
        let trees = repos.flat_map(|repo| repo.worktrees.iter().map(move |tree| (repo, tree)));
        let trees = trees.map(|(repo, tree)| (tree.path.as_path(), Some((repo, tree))));
        let plain = plain.iter().map(|folder| (Path::new(folder.raw()), None));
        let folders = plain.chain(trees).collect();
        let (known, asked, inner) = (HashMap::new(), HashSet::new(), HashMap::new());
        let (there, stashes, texts) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (left, marks) = (MOST_READ, HashMap::new());
        let (listings, edits) = (HashMap::new(), HashMap::new());
        Self {
            folders,
            known,
            asked,
            there,
            marks,
            stashes,
            texts,
            listings,
            edits,
            inner,
            now,
            doubt,
            uid,
            kept,
            left,
        }
    }

    /// Returns whether a path leads from the root straight down.
    fn is_straight(path: &Path) -> bool {
        path.is_absolute() && path.components().all(|part| part != Component::ParentDir)
    }

    /// Finds the working tree or folder that a file lies in.
    fn tree_of(&self, path: &Path) -> Option<(&'a Path, Tree<'a>)> {
        let is_straight = Self::is_straight(path);
        let mut above = path.ancestors().skip(1).filter(|_| is_straight);
        above.find_map(|above| self.folders.get_key_value(above)).map(|(folder, tree)| (*folder, *tree))
    }

    /// Finds the working tree or folder that a file lies in, and where its head has been; no head if that cannot be
    /// determined.
    fn head(&mut self, path: &Path) -> Option<(&'a Path, Tree<'a>, Option<Head>)> {
        let (folder, tree) = self.tree_of(path)?;
        let known = self.known.get(folder).cloned();
        let head = known.unwrap_or_else(|| match tree {
            Some((repo, tree)) => head_of(repo, tree, self.uid),
            None => is_uncontrolled(folder).then_some(Head::Never),
        });
        self.known.insert(folder, head.clone());
        Some((folder, tree, head))
    }

    /// Returns a file's content, if a process has written it or the head may have been put back since a moment.
    fn held_since(&mut self, path: &Path, at: Timestamp) -> Option<Short> {
        let (_, _, head) = self.head(path)?;
        let meta = file_at(path)?;
        let may_be_back = match head? {
            Head::Moved(log) => log.may_be_back_since(at, self.doubt),
            Head::Never => false,
        };
        (may_be_back || meta.touched_at() > at)
            .then(|| self.names(path, &meta))?
            .map(|names| short(&names.own))
    }

    /// Returns whether a file that differs from the commit has uncommitted content since an edit; `None` if that cannot
    /// be determined.
    fn is_uncommitted(
        &mut self,
        (path, meta): (&Path, &FileMeta),
        (at, known): (Option<Timestamp>, EditFacts),
        (content, place, log): (Content, &FileInTree<'a, '_>, &Log),
    ) -> Option<bool> {
        let moved_by = log.written_at.checked_add(self.doubt).ok().filter(|_| log.written_at <= self.now)?;
        let is_later = at.is_some_and(|edited| edited.as_second() > moved_by.as_second());
        // The file has not changed since, whatever time it was given.
        let is_untouched = at.is_some_and(|at| meta.touched_at() <= at);
        let is_left = match content {
            Content::Other if self.was_nothing((at?, known, is_later), place, log) => false,
            Content::Other => {
                is_later
                    || is_untouched && matches!(self.held(place), CommitContent::File(_))
                    || self.was_left((path, meta), (at?, known.upon), place, log) == Some(true)
            }
            Content::Unread => is_later && is_untouched,
            Content::Same | Content::Filtered => false,
        };
        is_left.then_some(true)
    }

    /// Returns the checked out commit's content at a place.
    fn held(&mut self, place: &FileInTree<'_, '_>) -> CommitContent {
        let commit = self.kept.commits.get_mut(place.folder);
        commit.map_or(CommitContent::Unread, |commit| commit.held(place.inside, self.now))
    }

    /// Returns whether the next commit would have the same at a place as the one that is checked out.
    fn is_staged_alike(&mut self, place: &FileInTree<'_, '_>) -> bool {
        let now = self.now;
        match self.index(place).held(place.inside, now) {
            IndexContent::File(staged) => self.held(place) == CommitContent::File(staged),
            IndexContent::Unread | IndexContent::Nothing | IndexContent::Conflict => false,
        }
    }

    /// Returns the index of the working tree that a place lies in.
    fn index(&mut self, place: &FileInTree<'_, '_>) -> &mut Index {
        let new = || Index::new(&own_dir(place.tree), &place.tree.0.common_dir);
        self.kept.indexes.entry(place.folder.to_path_buf()).or_insert_with(new)
    }

    /// Compares what a file holds with the commit that is checked out.
    fn compare(&mut self, path: &Path, meta: &FileMeta, place: &FileInTree<'a, '_>) -> Content {
        let (folder, common) = (place.folder, &place.tree.0.common_dir);
        self.find_commit(place);
        let Some(names) = self.names(path, meta) else { return Content::Unread };
        match self.held(place) {
            CommitContent::File(name) if name == names.own => Content::Same,
            CommitContent::File(name) if Some(name) == names.plain => Content::Filtered,
            CommitContent::File(_) if self.may_be_filtered(path, folder, common) => Content::Filtered,
            CommitContent::File(_) | CommitContent::Nothing => Content::Other,
            CommitContent::Unread => Content::Unread,
        }
    }

    /// Finds the commit that is checked out in the working tree that a place lies in, once in a look.
    fn find_commit(&mut self, place: &FileInTree<'a, '_>) {
        let (folder, common) = (place.folder, &place.tree.0.common_dir);
        if self.asked.insert(folder) {
            let name = Commit::checked_out(&own_dir(place.tree), common);
            let known = self.kept.commits.remove(folder).filter(|commit| Some(commit.name()) == name);
            let commit = known.or_else(|| Some(Commit::new(name?, common)));
            self.kept.commits.extend(commit.map(|commit| (folder.to_path_buf(), commit)));
        }
    }

    /// Returns whether git may keep a file in another form than in its working tree, by the settings of the repository
    /// and those for all repositories.
    fn may_be_filtered(&mut self, path: &Path, top: &Path, common: &Path) -> bool {
        let home = self.kept.home.clone();
        let below = |name: &str| home.as_ref().map(|home| home.join(name));
        let above = path.ancestors().skip(1).take_while(|above| above.starts_with(top));
        let attributes = above.map(|above| above.join(".gitattributes"));
        let attributes = attributes.chain([common.join("info/attributes"), "/etc/gitattributes".into()]);
        let configured = [common.join("config"), common.join("config.worktree"), "/etc/gitconfig".into()];
        let own = below(".gitconfig").into_iter().chain(below(".config/git/config"));
        self.any_line(attributes.chain(below(".config/git/attributes")), |line| names_filter(line, path))
            || self.any_line(configured.into_iter().chain(own), names_more)
    }

    /// Returns whether a line of any of these files matches, or one of them cannot be read.
    fn any_line(&mut self, mut files: impl Iterator<Item = PathBuf>, is_so: impl Fn(&str) -> bool) -> bool {
        files.any(|file| {
            let text = self.texts.entry(file).or_insert_with_key(|file| text_of(file));
            text.as_ref().is_none_or(|text| text.lines().any(&is_so))
        })
    }

    /// Names a file's content; nothing if too much would have to be read.
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

/// Returns the facts of a plain file.
fn file_at(path: &Path) -> Option<FileMeta> {
    let stat = lstat(path).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| meta_of(&stat))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes and removes its own files")]
mod tests;
