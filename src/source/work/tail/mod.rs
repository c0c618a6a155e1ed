//! A file of lines that only grows: reads its end first, then what is appended, and what stands before the end piece
//! by piece if edits are only reported there.

use std::os::fd::OwnedFd;
use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::core::model::{FileMeta, WhyUnread};
use crate::format::work::{Adapter, Draft};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::plain::open_plain;
use crate::source::work::lines::{Lines, MOST};

/// How much of a file's end is read first, in bytes; four times as much whenever that is not enough.
const FIRST: u64 = 64 << 10;
/// The most bytes of its end that are read if much of that is passed over.
const FARTHEST: u64 = 32 << 20;
/// How much may have been appended since the last look for all of it to be read, in bytes.
const APPENDED: u64 = 8 << 20;
/// How much of what stands before the end is read at once, in bytes.
const PIECE: u64 = 1 << 20;

/// The content that was read of one file.
pub(crate) struct Tail {
    meta: FileMeta,
    /// Whether the beginning of the file was read.
    is_whole: bool,
    end: Lines,
    /// The file read from its beginning, until that has caught up.
    slow: Option<Lines>,
}

impl Tail {
    /// Reads what is new since `before`, or the end of the file. Links, other users' files and files with several
    /// names are not read.
    ///
    /// # Errors
    /// Why it was not read; `None` if there is no file.
    pub(crate) fn read(
        path: &Path,
        adapter: Adapter,
        uid: u32,
        before: Option<Self>,
    ) -> Result<Self, Option<WhyUnread>> {
        let before = match before {
            Some(same) if look_at(path) == Some(same.meta) => return Ok(same),
            before => before,
        };
        let (fd, meta) = open_plain(path).map_err(refusal)?;
        if meta.ownership.uid != uid {
            return Err(Some(WhyUnread::ForeignOwner));
        }
        if meta.links != 1 {
            return Err((meta.links > 0).then_some(WhyUnread::SeveralNames));
        }
        let read = match before.filter(|before| before.has_grown(&fd, &meta)) {
            Some(mut tail) => tail.end.go_on(&fd, meta.size, adapter).map(|()| Self { meta, ..tail }),
            None => Self::end(&fd, meta, adapter),
        };
        read.ok_or(Some(WhyUnread::Failed))
    }

    /// Returns whether it is the same file, with more at its end.
    fn has_grown(&self, fd: &OwnedFd, meta: &FileMeta) -> bool {
        let is_same = (meta.dev, meta.ino) == (self.meta.dev, self.meta.ino);
        let appended = meta.size.saturating_sub(self.meta.size);
        is_same && (1..=APPENDED).contains(&appended) && self.end.is_as_read(fd)
    }

    /// Reads as much of the end as is needed.
    fn end(fd: &OwnedFd, meta: FileMeta, adapter: Adapter) -> Option<Self> {
        let mut span = FIRST;
        loop {
            let from = meta.size.saturating_sub(span);
            let mut end = Lines::from_offset(from);
            end.go_on(fd, meta.size, adapter)?;
            // What is passed over hides nothing before it.
            let has_read = span >= MOST && span.saturating_sub(end.passed_over) >= MOST / 2;
            let is_enough = has_read || span >= FARTHEST;
            if from == 0 || is_enough || (adapter.is_settled)(&end.draft) {
                // All of it is one line.
                if from > 0 && !end.has_lines {
                    end.draft.loses();
                }
                return Some(Self { meta, is_whole: from == 0, end, slow: None });
            }
            let most = if span < MOST { MOST } else { FARTHEST };
            span = (span * 4).min(most);
        }
    }

    /// Returns how much is still to be read before its edits are known from the results of its calls, in bytes.
    pub(crate) fn behind(&self) -> Option<u64> {
        let read = self.slow.as_ref().map_or(0, |slow| slow.read_to);
        (!self.is_whole).then(|| self.end.read_to.saturating_sub(read))
    }

    /// Reads one more piece of what stands before the end.
    pub(crate) fn catch_up(&mut self, path: &Path, adapter: Adapter) {
        let Some((fd, _)) = open_plain(path).ok().filter(|(_, meta)| *meta == self.meta) else { return };
        let mut slow = self.slow.take().unwrap_or_default();
        if slow.piece(&fd, self.end.read_to, PIECE, adapter).is_none() {
            return;
        }
        if slow.read_to < self.end.read_to {
            self.slow = Some(slow);
        } else {
            self.end = slow;
            self.is_whole = true;
        }
    }

    /// Returns the known facts.
    pub(crate) fn draft(&self) -> &Draft {
        &self.end.draft
    }

    /// Returns the file as it was last read.
    pub(crate) fn meta(&self) -> FileMeta {
        self.meta
    }

    /// Returns when the file was last written.
    pub(crate) fn written_at(&self) -> Timestamp {
        self.meta.modified_at
    }

    /// Returns when its first line was written, if that was read.
    pub(crate) fn began_at(&self) -> Option<Timestamp> {
        self.end.draft.first_at.filter(|_| self.is_whole)
    }

    /// Returns whether its last line is only half written.
    pub(crate) fn is_torn(&self) -> bool {
        self.end.read_to < self.meta.size
    }

    /// Returns since when edits are known, if not since the beginning.
    pub(crate) fn edits_since(&self) -> Option<Timestamp> {
        let draft = &self.end.draft;
        let written_at = self.meta.modified_at;
        let has_all = self.is_whole || draft.has_all_edits;
        let read = (!has_all).then(|| draft.first_at.unwrap_or(written_at));
        read.max(draft.lost.map(|lost| lost.unwrap_or(written_at)))
    }
}

/// Returns why the system did not open a plain file; nothing if there is no file.
pub(crate) fn refusal(error: Errno) -> Option<WhyUnread> {
    match error {
        Errno::NOENT | Errno::NOTDIR => None,
        Errno::LOOP => Some(WhyUnread::Link),
        // A socket cannot be opened (open(2)).
        Errno::INVAL | Errno::NXIO => Some(WhyUnread::NoPlainFile),
        Errno::ACCESS | Errno::PERM => Some(WhyUnread::NoPermission),
        _ => Some(WhyUnread::Failed),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests;
