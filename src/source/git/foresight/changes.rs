//! What the state of a side changes against the commit that two sides have in common.

use std::collections::BTreeSet;

use super::scratch::{Access, Desk, Scratch};

/// A changed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: Vec<u8>,
    /// Its mode and object before; `None` for a new one.
    pub(super) before: Option<Entry>,
    /// The same now; `None` for a deleted one.
    pub(super) after: Option<Entry>,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: String,
    pub(super) object: String,
}

impl Entry {
    pub(super) fn is_folder(&self) -> bool {
        self.mode.ends_with("40000")
    }

    pub(super) fn is_submodule(&self) -> bool {
        self.mode == "160000"
    }
}

/// The changes of one side.
pub(super) struct Changes {
    /// All of them, folders included.
    pub(super) all: Vec<Change>,
}

impl Changes {
    /// Compares two trees.
    pub(super) fn read(scratch: &Scratch, desk: &Desk, base: &str, tree: &str) -> Result<Self, String> {
        let arguments = ["diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", base, tree];
        let raw = scratch.output(desk, Access::Repository, None, &arguments)?;
        let mut all = Vec::new();
        let mut parts = raw.split(|byte| *byte == 0);
        while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
            let head = String::from_utf8_lossy(head);
            let fields: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
            let [old_mode, mode, old, new, _] = fields[..] else {
                return Err("git diff-tree answered oddly".into());
            };
            let entry = |mode: &str, object: &str| {
                let is_there = mode.bytes().any(|digit| digit != b'0');
                is_there.then(|| Entry { mode: mode.to_owned(), object: object.to_owned() })
            };
            all.push(Change { path: path.to_vec(), before: entry(old_mode, old), after: entry(mode, new) });
        }
        Ok(Self { all })
    }

    /// Returns the objects that a merge can need.
    pub(super) fn objects(&self) -> impl Iterator<Item = &str> {
        let entries = self.all.iter().flat_map(|change| [&change.before, &change.after]).flatten();
        entries.filter(|entry| !entry.is_submodule()).map(|entry| entry.object.as_str())
    }

    /// Returns the changes of files.
    pub(super) fn files(&self) -> impl Iterator<Item = &Change> {
        let is_folder = |entry: &Option<Entry>| entry.as_ref().is_some_and(Entry::is_folder);
        self.all.iter().filter(move |change| !is_folder(&change.before) && !is_folder(&change.after))
    }

    pub(super) fn paths(&self) -> BTreeSet<&[u8]> {
        self.files().map(|change| change.path.as_slice()).collect()
    }

    /// Returns the files that it makes.
    pub(super) fn new_files(&self) -> impl Iterator<Item = &Change> {
        self.files().filter(|change| change.before.is_none() && change.after.is_some())
    }

    /// Returns the change of a path.
    pub(super) fn change_at(&self, path: &[u8]) -> Option<&Change> {
        self.all.iter().find(|change| change.path == path)
    }

    /// Returns whether it deletes and makes files, which may be renames.
    pub(super) fn may_rename(&self) -> bool {
        self.files().any(|change| change.after.is_none()) && self.new_files().next().is_some()
    }

    /// Returns whether both change different files and nothing may be renamed: then they merge.
    pub(super) fn is_apart_from(&self, other: &Self) -> bool {
        let [mine, its] = [self, other].map(Self::paths);
        let is_below = |path: &[u8], all: &BTreeSet<&[u8]>| {
            let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            ends.filter_map(|at| path.get(..at)).any(|above| all.contains(above))
        };
        let meets = |one: &BTreeSet<&[u8]>, other: &BTreeSet<&[u8]>| {
            one.iter().any(|path| other.contains(path) || is_below(path, other))
        };
        let may_rename = self.may_rename() || other.may_rename();
        !may_rename
            && !self.has_attributes()
            && !other.has_attributes()
            && !meets(&mine, &its)
            && !meets(&its, &mine)
    }

    /// Returns whether it changes what files have for attributes.
    pub(super) fn has_attributes(&self) -> bool {
        self.files().any(|change| change.path.ends_with(b".gitattributes"))
    }
}
