//! The files of a stash entry: a commit upon the one that was checked out, with the index and, if they were stashed as
//! well, the files that git did not know as further parents (git-stash(1), "Discussion").

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::head::parents;
use super::objects::{Kind, Name, parse_name, read};

/// The most files that are found, and the most trees that are read.
const MOST_FILES: usize = 512;
const MOST_TREES: usize = 2_048;

/// The entries of a tree: whether each is a tree itself, and its object.
type Entries = BTreeMap<Vec<u8>, (bool, Name)>;

/// Returns the files of an entry, each with its content, or none if it was removed; `None` if that cannot be read, or
/// they are too many.
pub(crate) fn stashed_files(common: &Path, commit: &Name) -> Option<Vec<(PathBuf, Option<Name>)>> {
    let mut search = Search { objects: common.join("objects"), left: MOST_TREES, found: Vec::new() };
    let parents = parents(common, commit)?;
    let base = search.top(parents.first()?)?;
    let own = search.top(commit)?;
    search.compare(Path::new(""), Some(base), Some(own))?;
    if let Some(unknown) = parents.get(2) {
        let unknown = search.top(unknown)?;
        search.compare(Path::new(""), None, Some(unknown))?;
    }
    Some(search.found)
}

struct Search {
    objects: PathBuf,
    left: usize,
    found: Vec<(PathBuf, Option<Name>)>,
}

impl Search {
    fn top(&self, commit: &Name) -> Option<Name> {
        let commit = read(&self.objects, Kind::Commit, commit)?;
        parse_name(commit.strip_prefix(b"tree ")?.get(..40)?)
    }

    fn entries(&mut self, tree: Option<Name>) -> Option<Entries> {
        let Some(tree) = tree else { return Some(Entries::new()) };
        self.left = self.left.checked_sub(1)?;
        let text = read(&self.objects, Kind::Tree, &tree)?;
        let (mut rest, mut found) = (text.as_slice(), Entries::new());
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == 0)?;
            let (head, after) = (rest.get(..end)?, rest.get(end + 1..)?);
            let (object, next) = after.split_first_chunk::<20>()?;
            let space = head.iter().position(|byte| *byte == b' ')?;
            found.insert(head.get(space + 1..)?.to_vec(), (head.get(..space)? == b"40000", *object));
            rest = next;
        }
        Some(found)
    }

    /// Adds the files that differ between two trees.
    fn compare(&mut self, folder: &Path, base: Option<Name>, own: Option<Name>) -> Option<()> {
        let (mut base, own) = (self.entries(base)?, self.entries(own)?);
        let mut pairs: Vec<_> =
            own.into_iter().map(|(name, own)| (base.remove(&name), Some(own), name)).collect();
        pairs.extend(base.into_iter().map(|(name, base)| (Some(base), None, name)));
        for (base, own, name) in pairs.into_iter().filter(|(base, own, _)| base != own) {
            let path = folder.join(std::str::from_utf8(&name).ok()?);
            let tree = |one: Option<(bool, Name)>| one.filter(|(is_tree, _)| *is_tree).map(|(_, name)| name);
            if tree(base).is_some() || tree(own).is_some() {
                self.compare(&path, tree(base), tree(own))?;
            }
            let file = |one: Option<(bool, Name)>| one.filter(|(is_tree, _)| !is_tree).map(|(_, name)| name);
            if file(base).is_some() || file(own).is_some() {
                self.found.push((path, file(own)));
            }
            if self.found.len() > MOST_FILES {
                return None;
            }
        }
        Some(())
    }
}
