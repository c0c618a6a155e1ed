//! Files that earlier looks read, so that an unchanged file is not parsed again.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{FileMeta, FolderId, Record};
use crate::format::FileKind;
use crate::source::os::open::meta::is_sure;

/// How many files are kept, with their records some 12 MiB; more are simply read again.
pub(crate) const MAX_KEPT: usize = 16_384;

/// The cached files of every folder.
#[derive(Default)]
pub(crate) struct FileCache {
    folders: HashMap<FolderId, Files>,
    files: usize,
}

/// The files of one folder by name. They are read in that order, so that a list takes less room
/// than a map, and no more time.
#[derive(Default)]
struct Files {
    list: Vec<KeptFile>,
    /// The index of the file that is likely to be looked up next.
    next: usize,
}

impl Files {
    /// Returns the index of a file, or where it belongs.
    fn place(&self, name: &OsStr) -> Result<usize, usize> {
        if self.list.get(self.next).is_some_and(|likely| likely.name() == name) {
            return Ok(self.next);
        }
        match self.list.last() {
            Some(last) if last.name() >= name => self.list.binary_search_by(|own| own.name().cmp(name)),
            Some(_) | None => Err(self.list.len()),
        }
    }
}

/// The cached result of one file.
#[derive(Clone)]
pub(crate) struct KeptFile {
    /// The kind of file that it was read as.
    pub(crate) kind: FileKind,
    /// The process that held a lock on it.
    locked_by: Option<u32>,
    /// The result of `fstat`, if a file with an equal result must have the same content.
    meta: Option<FileMeta>,
    gave: Gave,
}

/// The result of reading a file. A record knows its file's name, so it is not stored twice.
#[derive(Clone)]
enum Gave {
    Record(Arc<Record>),
    /// The file of this name has no record.
    Nothing(Box<OsStr>),
}

impl KeptFile {
    /// Keeps the result of a file with these facts, read at `read_at`.
    pub(crate) fn new(
        (kind, name): (FileKind, &OsStr),
        (meta, locked_by): (&FileMeta, Option<u32>),
        record: Option<Arc<Record>>,
        read_at: Timestamp,
    ) -> Self {
        let is_lasting = meta.links == 1 && is_sure(read_at, meta.touched_at());
        let gave = record.map_or_else(|| Gave::Nothing(name.into()), Gave::Record);
        Self { kind, locked_by, meta: is_lasting.then_some(*meta), gave }
    }

    /// Returns whether a file with these facts must still have the content that was read.
    pub(crate) fn is_of(&self, meta: &FileMeta, locked_by: Option<u32>) -> bool {
        self.meta.as_ref() == Some(meta) && self.locked_by == locked_by
    }

    /// Returns its record; `None` for a file without one.
    pub(crate) fn record(&self) -> Option<&Arc<Record>> {
        match &self.gave {
            Gave::Record(record) => Some(record),
            Gave::Nothing(_) => None,
        }
    }

    fn name(&self) -> &OsStr {
        match &self.gave {
            Gave::Record(record) => record.location.path().map(last_part).unwrap_or_default(),
            Gave::Nothing(name) => name,
        }
    }
}

impl FileCache {
    /// Returns the cached result of one file.
    pub(crate) fn file(&mut self, folder: FolderId, name: &OsStr) -> Option<&KeptFile> {
        let files = self.folders.get_mut(&folder)?;
        let at = files.place(name).ok()?;
        files.next = at + 1;
        files.list.get(at)
    }

    /// Returns whether one file is cached.
    pub(crate) fn has(&self, folder: FolderId, name: &OsStr) -> bool {
        self.folders.get(&folder).is_some_and(|files| files.place(name).is_ok())
    }

    /// Makes room for the files of a folder.
    pub(crate) fn reserve(&mut self, folder: FolderId, files: usize) {
        self.folders.entry(folder).or_default().list.reserve_exact(files.min(MAX_KEPT));
    }

    /// Returns whether one more file may be kept.
    pub(crate) fn has_room(&self) -> bool {
        self.files < MAX_KEPT
    }

    /// Caches the result of a file that is not cached yet.
    pub(crate) fn keep(&mut self, folder: FolderId, file: KeptFile) {
        self.files += 1;
        let files = self.folders.entry(folder).or_default();
        let (Ok(at) | Err(at)) = files.place(file.name());
        files.list.insert(at, file);
    }
}

/// Returns the file name of a path, at less cost than by iterating over its parts.
fn last_part(path: &Path) -> &OsStr {
    let bytes = path.as_os_str().as_bytes();
    let start = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    OsStr::from_bytes(bytes.get(start..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::core::model::Ownership;
    use crate::format::maia;

    fn meta(touched: i64) -> FileMeta {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(touched);
        let ownership = Ownership::default();
        FileMeta { dev: 1, ino: 2, ownership, links: 1, size: 3, modified_at: at, changed_at: at }
    }

    /// Reads a file last changed at `touched`, at 10 s, and asks again.
    #[track_caller]
    fn check(touched: i64, now: FileMeta, locked_by: Option<u32>, expected: bool) {
        let kind = FileKind::Known(&maia::SPEC.places[0]);
        let read_at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(10);
        let kept = KeptFile::new((kind, OsStr::new("alpha")), (&meta(touched), None), None, read_at);
        assert_eq!(kept.is_of(&now, locked_by), expected);
    }

    #[test]
    fn a_file_is_read_again_unless_nothing_can_have_changed() {
        check(5_000, meta(5_000), None, true);
        check(5_000, meta(5_001), None, false);
        check(5_000, FileMeta { size: 4, ..meta(5_000) }, None, false);
        check(5_000, FileMeta { ino: 9, ..meta(5_000) }, None, false);
        check(5_000, FileMeta { dev: 9, ..meta(5_000) }, None, false);
        check(5_000, FileMeta { links: 2, ..meta(5_000) }, None, false);
        check(5_000, FileMeta { modified_at: meta(4_999).modified_at, ..meta(5_000) }, None, false);
        check(5_000, FileMeta { ownership: Ownership::new(7, 0), ..meta(5_000) }, None, false);
        check(5_000, meta(5_000), Some(77), false);
    }

    #[test]
    fn a_file_that_was_read_right_after_a_change_may_have_changed_once_more() {
        check(9_500, meta(9_500), None, false);
        check(11_000, meta(11_000), None, false);
    }

    #[test]
    fn files_are_found_in_whatever_order_they_come_and_are_asked_for() {
        let (folder, kind) = (FolderId { dev: 1, ino: 2 }, FileKind::Known(&maia::SPEC.places[0]));
        let mut kept = FileCache::default();
        for name in ["b", "d", "a", "c"] {
            assert!(!kept.has(folder, OsStr::new(name)), "{name}");
            let file = KeptFile::new((kind, OsStr::new(name)), (&meta(0), None), None, Timestamp::UNIX_EPOCH);
            kept.keep(folder, file);
        }
        for name in ["a", "b", "c", "d", "a", "c", "b", "d"] {
            assert_eq!(kept.file(folder, OsStr::new(name)).unwrap().name(), name);
        }
        for name in ["", "aa", "e"] {
            assert!(
                kept.file(folder, OsStr::new(name)).is_none() && !kept.has(folder, OsStr::new(name)),
                "{name}"
            );
        }
        assert!(kept.file(FolderId { dev: 1, ino: 3 }, OsStr::new("a")).is_none());
    }
}
