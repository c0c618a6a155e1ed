//! What the checked out commit has of a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::source::os::open::plain::small;
use crate::source::repos::objects::{Kind, Name, parse_name, read};

/// The largest list of packed refs that is read, in bytes.
const MOST_PACKED: usize = 4 << 20;
/// The largest other file of git's that is read, in bytes.
const MOST: usize = 4 << 10;

/// The most paths that are remembered of one commit.
const MOST_HELD: usize = 4_096;

/// How long to wait before retrying a commit that could not be read.
const AGAIN: SignedDuration = SignedDuration::from_secs(10);

/// A commit's content at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitContent {
    /// A plain file of this content.
    File(Name),
    /// Nothing, or something else.
    Nothing,
    /// That could not be read.
    Unread,
}

/// The cached content of one commit.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    name: Name,
    objects: PathBuf,
    /// The trees of folders that were read in this look; nothing for one that is not there.
    trees: HashMap<PathBuf, Option<Vec<u8>>>,
    /// The content that was found.
    held: HashMap<PathBuf, CommitContent>,
    /// Since when it cannot be read.
    unread_since: Option<Timestamp>,
}

impl Commit {
    /// Finds the commit that a working tree with this git folder has checked out.
    pub(crate) fn checked_out(own: &Path, common: &Path) -> Option<Name> {
        let head = small(&own.join("HEAD"), MOST).ok()?;
        let Some(branch) = head.strip_prefix(b"ref: ") else { return parse_name(head.trim_ascii()) };
        let branch = str::from_utf8(branch).ok()?.trim_end();
        // Refs other than branches can be the working tree's own.
        let is_plain = branch.starts_with("refs/heads/") && !branch.contains("/.");
        if !is_plain {
            return None;
        }
        match small(&common.join(branch), MOST) {
            Ok(loose) => parse_name(loose.trim_ascii()),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
                let packed = small(&common.join("packed-refs"), MOST_PACKED).ok()?;
                let mut lines = packed.split(|byte| *byte == b'\n');
                lines.find_map(|line| {
                    let (name, of) = line.split_at_checked(40)?;
                    (of.strip_prefix(b" ")? == branch.as_bytes()).then(|| parse_name(name))?
                })
            }
            Err(_) => None,
        }
    }

    /// Prepares to read a commit of a repository.
    pub(crate) fn new(name: Name, common: &Path) -> Self {
        Self {
            name,
            objects: common.join("objects"),
            trees: HashMap::new(),
            held: HashMap::new(),
            unread_since: None,
        }
    }

    pub(crate) fn name(&self) -> Name {
        self.name
    }

    /// Returns its content at a path below the working tree.
    pub(crate) fn held(&mut self, path: &Path, now: Timestamp) -> CommitContent {
        if let Some(held) = self.held.get(path) {
            return *held;
        }
        // Git may have just moved its objects into a pack.
        self.unread_since = self.unread_since.filter(|since| now.duration_since(*since) < AGAIN);
        let held = if self.unread_since.is_some() { CommitContent::Unread } else { self.find(path) };
        match held {
            CommitContent::Unread => self.unread_since = self.unread_since.or(Some(now)),
            CommitContent::File(_) | CommitContent::Nothing => {
                self.held.insert(path.to_path_buf(), held);
            }
        }
        held
    }

    /// Ends a look, and keeps the results.
    pub(crate) fn end_look(&mut self) {
        self.trees.clear();
        if self.held.len() > MOST_HELD {
            self.held.clear();
        }
    }

    fn find(&mut self, path: &Path) -> CommitContent {
        let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
            return CommitContent::Nothing;
        };
        let file = file.as_encoded_bytes();
        let Some(tree) = self.tree(folder) else { return CommitContent::Unread };
        match tree.and_then(|tree| entry(tree, file)) {
            Some((mode, name)) if mode.starts_with(b"100") => CommitContent::File(name),
            Some(_) | None => CommitContent::Nothing,
        }
    }

    /// Returns the tree of a folder, if there is one; `None` if that could not be read.
    fn tree(&mut self, folder: &Path) -> Option<Option<&[u8]>> {
        if !self.trees.contains_key(folder) {
            let tree = self.read_tree(folder)?;
            self.trees.insert(folder.to_path_buf(), tree);
        }
        self.trees.get(folder).map(Option::as_deref)
    }

    fn read_tree(&mut self, folder: &Path) -> Option<Option<Vec<u8>>> {
        let name = match (folder.parent(), folder.file_name()) {
            (Some(above), Some(last)) => {
                let last = last.as_encoded_bytes().to_vec();
                match self.tree(above)?.and_then(|tree| entry(tree, &last)) {
                    Some((b"40000", name)) => name,
                    Some(_) | None => return Some(None),
                }
            }
            _ => {
                let commit = read(&self.objects, Kind::Commit, &self.name)?;
                parse_name(commit.strip_prefix(b"tree ")?.get(..40)?)?
            }
        };
        read(&self.objects, Kind::Tree, &name).map(Some)
    }
}

/// Returns the parents of a commit of a repository; `None` if it cannot be read.
pub(crate) fn parents(common: &Path, commit: &Name) -> Option<Vec<Name>> {
    let text = read(&common.join("objects"), Kind::Commit, commit)?;
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    let parents = lines.map_while(|line| line.strip_prefix(b"parent "));
    parents.map(parse_name).collect()
}

/// Finds the entry of a name in a tree: its mode, and the object.
pub(crate) fn entry<'a>(mut tree: &'a [u8], wanted: &[u8]) -> Option<(&'a [u8], Name)> {
    while !tree.is_empty() {
        let end = tree.iter().position(|byte| *byte == 0)?;
        let (head, rest) = (tree.get(..end)?, tree.get(end + 1..)?);
        let (name, next) = rest.split_first_chunk::<20>()?;
        let space = head.iter().position(|byte| *byte == b' ')?;
        if head.get(space + 1..)? == wanted {
            return Some((head.get(..space)?, *name));
        }
        tree = next;
    }
    None
}
