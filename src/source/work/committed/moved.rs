//! Whether what an edit left lies in another file of its working tree: a file that was renamed.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::core::model::FileMeta;
use crate::source::os::open::folder::{Folder, look_at};
use crate::source::work::committed::head::is_absent;
use crate::source::work::committed::left::{Listing, text_of};
use crate::source::work::committed::{FileInTree, Heads, file_at};

/// The most folders of a working tree that are looked at.
const MOST_FOLDERS: usize = 4_096;
/// The most files that are compared with one edit.
const MOST_TEXTS: usize = 256;
/// Folders of what git and tools make.
const MADE: [&str; 5] = [".git", "target", "node_modules", ".venv", "__pycache__"];

impl<'a> Heads<'a> {
    /// Returns whether another file of a working tree that was changed since a moment has what is looked for; `None` if
    /// that cannot be determined.
    pub(super) fn is_elsewhere(
        &mut self,
        (path, at): (&Path, Timestamp),
        place: &FileInTree<'a, '_>,
        mut has_it: impl FnMut(&[u8]) -> bool,
    ) -> Option<bool> {
        let at = at.checked_sub(self.doubt).ok()?;
        if self.listings.get(place.folder).is_none_or(|listing| listing.since > at) {
            let files = changed_since(at, place.folder);
            self.listings.insert(place.folder, Listing { since: at, files });
        }
        let files = self.listings.get(place.folder)?.files.as_ref()?;
        let since = files.iter().filter(|(file, meta)| meta.touched_at() >= at && file != path);
        for (number, (file, meta)) in since.enumerate() {
            self.left = self.left.checked_sub(meta.size).filter(|_| number < MOST_TEXTS)?;
            if has_it(&text_of(file, meta)?) {
                return Some(true);
            }
        }
        Some(false)
    }
}

fn changed_since(at: Timestamp, top: &Path) -> Option<Vec<(PathBuf, FileMeta)>> {
    // In a working tree that is gone nothing is anywhere.
    if is_absent(top) {
        return Some(Vec::new());
    }
    let (mut folders, mut files, mut seen) = (vec![top.to_path_buf()], Vec::new(), 0);
    while let Some(path) = folders.pop() {
        seen += 1;
        // A file that is renamed into a folder changes that.
        let is_new = look_at(&path).filter(|_| seen <= MOST_FOLDERS)?.touched_at() >= at;
        let entries = Folder::open(&path).and_then(|folder| folder.entries(|_| true)).ok()?;
        for entry in entries.iter().filter(|entry| MADE.iter().all(|name| entry.name != *name)) {
            let below = path.join(&entry.name);
            match file_at(&below) {
                Some(meta) if is_new && meta.touched_at() >= at => files.push((below, meta)),
                Some(_) => {}
                None => {
                    let is_folder = below.symlink_metadata().is_ok_and(|meta| meta.is_dir());
                    if is_folder && is_absent(&below.join(".git")) {
                        folders.push(below);
                    }
                }
            }
        }
    }
    Some(files)
}
