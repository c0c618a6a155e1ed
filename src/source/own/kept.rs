//! Reads the versions of files that guarded windows have kept: a folder for each working tree, in it the contents as
//! git's loose objects, and for each day a list of whose they were.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use crate::core::model::snapshot::ledger::folder_name;
use crate::core::model::snapshot::ledger::kept::{KeptVersion, LOST, is_list, parse};
use crate::core::model::text::json;
use crate::source::os::open::folder::Folder;
use crate::source::own::ledger::end_of;
use crate::source::repos::objects::{Kind, Name, read_loose};

/// How much of one list is read, in bytes: some 200,000 versions.
const MOST_LIST: usize = 64 << 20;
/// The largest content that is ever kept, in bytes.
pub(crate) const MOST_KEPT: u64 = 64 << 20;

/// How much of the newest lists is read for one file, in bytes.
const NEWEST: usize = 8 << 20;

/// What is kept of one working tree.
pub(crate) struct KeptFiles {
    /// Its folder.
    pub(crate) folder: PathBuf,
}

impl KeptFiles {
    /// Returns what is kept of the working tree with this path, below the folder of all that is kept.
    pub(crate) fn of_tree(kept: &Path, tree: &str) -> Self {
        Self { folder: kept.join(folder_name(tree)) }
    }

    /// Returns the folder of the contents.
    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    /// Returns the names of the lists of days, the oldest first.
    pub(crate) fn lists(&self) -> Vec<String> {
        let is_day = |name: &OsStr| name.to_str().is_some_and(is_list);
        let entries = Folder::open(&self.folder).and_then(|folder| folder.entries(is_day));
        let names = entries.unwrap_or_default().into_iter();
        let mut names: Vec<String> = names.filter_map(|entry| entry.name.into_string().ok()).collect();
        names.sort_unstable();
        names
    }

    /// Returns the versions of one list, as they were added: none of a list that is not there, `None` of one that
    /// cannot be read whole.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<KeptVersion>> {
        let path = self.folder.join(name);
        match path.symlink_metadata() {
            Err(error) => (error.kind() == ErrorKind::NotFound).then(Vec::new),
            Ok(meta) if meta.len() > MOST_LIST as u64 => None,
            Ok(_) => Some(end_of(&path, MOST_LIST)?.lines().filter_map(parse).collect()),
        }
    }

    /// Returns all versions, the oldest first.
    pub(crate) fn all(&self) -> Vec<KeptVersion> {
        let lists = [LOST.to_owned()].into_iter().chain(self.lists());
        let mut all: Vec<KeptVersion> = lists.filter_map(|name| self.list(&name)).flatten().collect();
        all.sort_by_key(|version| version.at);
        all
    }

    /// Returns the versions of one file, the oldest first, as far as they stand in the newest 8 MiB of the lists.
    pub(crate) fn of_file(&self, path: &str) -> Vec<KeptVersion> {
        self.newest_of(&HashSet::from([path]), NEWEST)
    }

    /// Returns the versions of these files in the newest lists, the oldest first, as far as they stand in the newest
    /// `most` bytes.
    pub(crate) fn newest_of(&self, paths: &HashSet<&str>, most: usize) -> Vec<KeptVersion> {
        let wanted: HashSet<Vec<u8>> =
            paths.iter().filter_map(|path| Some(json::to_line(path).ok()?.into_bytes())).collect();
        let is_asked = |line: &&[u8]| path_of(line).is_some_and(|path| wanted.contains(path));
        let (mut found, mut left) = (Vec::new(), most);
        let lists = self.lists();
        for name in lists.iter().rev().map(String::as_str).chain([LOST]) {
            let text = if left == 0 { None } else { end_of(&self.folder.join(name), left) };
            let text = text.unwrap_or_default();
            left = left.saturating_sub(text.len());
            found.extend(text.as_bytes().lines().filter(is_asked).filter_map(parse));
        }
        found.sort_by_key(|version| version.at);
        found
    }

    /// Returns whether a content is kept.
    pub(crate) fn has(&self, blob: &Name) -> bool {
        crate::source::repos::objects::loose_path(&self.objects(), blob)
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_file())
    }

    /// Returns a kept content; `None` if it is not there, or not what its name says.
    pub(crate) fn content(&self, blob: &Name) -> Option<Vec<u8>> {
        read_loose(&self.objects(), Kind::Blob, blob, usize::try_from(MOST_KEPT).ok()?)
    }
}

/// Returns the path in a line, as it is written there: a list's lines begin with it.
fn path_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(br#"{"path":"#)?;
    let mut is_escaped = false;
    let is_end = |byte: &u8| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    };
    let end = rest.get(1..)?.iter().position(is_end)?;
    rest.get(..end + 2)
}
