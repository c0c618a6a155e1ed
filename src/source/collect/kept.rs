//! What earlier looks read, so that a file that has not changed is not parsed again.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use crate::core::file::FileMeta;
use crate::core::record::Record;
use crate::format::FileKind;
use crate::source::open::FolderId;

/// How many files are kept, with their records some 16 MiB; more are simply read again.
pub const MAX_KEPT: usize = 16_384;

/// What was read of the files of every folder.
#[derive(Default)]
pub(super) struct Kept {
    /// The files of each folder by name. They are read in that order, so that a list takes less
    /// room than a map and no more time.
    folders: HashMap<FolderId, Vec<Slot>>,
    files: usize,
}

/// A file's name and what was read of it, until that is taken out.
type Slot = (Box<OsStr>, Option<KeptFile>);

/// What was read of one file.
pub(super) struct KeptFile {
    /// What it was taken for.
    pub(super) kind: FileKind,
    /// What `fstat` said.
    pub(super) meta: FileMeta,
    /// Who held a lock on it.
    pub(super) locked_by: Option<u32>,
    /// Whether it can have changed since only with another `fstat`.
    pub(super) is_sure: bool,
    /// What it gave; `None` for a file that means nothing.
    pub(super) record: Option<Arc<Record>>,
}

impl KeptFile {
    /// Returns whether a file with these facts must still have the content that was read.
    pub(super) fn is_of(&self, meta: &FileMeta, locked_by: Option<u32>) -> bool {
        self.is_sure && self.meta == *meta && self.locked_by == locked_by
    }
}

impl Kept {
    /// Takes out what was kept of one file.
    pub(super) fn take(&mut self, folder: FolderId, name: &OsStr) -> Option<KeptFile> {
        let files = self.folders.get_mut(&folder)?;
        let at = place(files, name).ok()?;
        files.get_mut(at)?.1.take()
    }

    /// Makes room for the files of a folder.
    pub(super) fn reserve(&mut self, folder: FolderId, files: usize) {
        self.folders.entry(folder).or_default().reserve_exact(files.min(MAX_KEPT));
    }

    /// Returns whether something is kept of one file.
    pub(super) fn has(&self, folder: FolderId, name: &OsStr) -> bool {
        self.folders.get(&folder).is_some_and(|files| place(files, name).is_ok())
    }

    /// Returns whether one more file may be kept.
    pub(super) fn has_room(&self) -> bool {
        self.files < MAX_KEPT
    }

    /// Keeps what was read of one file of which nothing is kept yet.
    pub(super) fn keep(&mut self, folder: FolderId, name: OsString, file: KeptFile) {
        self.files += 1;
        let files = self.folders.entry(folder).or_default();
        let (Ok(at) | Err(at)) = place(files, &name);
        files.insert(at, (name.into(), Some(file)));
    }
}

/// Returns where a file is among those of its folder, or belongs.
fn place(files: &[Slot], name: &OsStr) -> Result<usize, usize> {
    files.binary_search_by(|(own, _)| (**own).cmp(name))
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::core::record::Ownership;
    use crate::format::maia;
    use crate::source::open::is_sure;

    fn meta(touched: i64) -> FileMeta {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(touched);
        let ownership = Ownership::default();
        FileMeta { dev: 1, ino: 2, ownership, links: 1, size: 3, modified_at: at, changed_at: at }
    }

    /// Reads a file last changed at `touched`, at 10 s, and asks again.
    #[track_caller]
    fn check(touched: i64, now: FileMeta, locked_by: Option<u32>, expected: bool) {
        let kept = KeptFile {
            kind: FileKind::Maia(maia::Kind::Learning),
            meta: meta(touched),
            locked_by: None,
            is_sure: is_sure(
                Timestamp::UNIX_EPOCH + SignedDuration::from_secs(10),
                meta(touched).touched_at(),
            ),
            record: None,
        };
        assert_eq!(kept.is_of(&now, locked_by), expected);
    }

    #[test]
    fn a_file_is_read_again_unless_nothing_can_have_changed() {
        check(5_000, meta(5_000), None, true);
        check(5_000, meta(5_001), None, false);
        check(5_000, FileMeta { size: 4, ..meta(5_000) }, None, false);
        check(5_000, FileMeta { ino: 9, ..meta(5_000) }, None, false);
        check(5_000, meta(5_000), Some(77), false);
    }

    #[test]
    fn a_file_that_was_read_right_after_a_change_may_have_changed_once_more() {
        check(9_500, meta(9_500), None, false);
        check(11_000, meta(11_000), None, false);
    }
}
