//! A file of lines that only grows: its end first, and then what is appended.

use std::os::fd::OwnedFd;
use std::path::Path;

use jiff::Timestamp;
use rustix::buffer::spare_capacity;
use rustix::io::{pread, retry_on_intr};

use crate::core::model::FileMeta;
use crate::format::work::{Adapter, Draft};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::plain::open_plain;

/// How much of a file's end is read first, in bytes; four times as much whenever that is not enough.
const FIRST: u64 = 64 << 10;
/// The most that is read of a file's end, and of one line, in bytes. Lines of 541 kB were seen.
const MOST: u64 = 2 << 20;
/// How many bytes before the place that was read up to tell whether the file was rewritten.
const MARK: usize = 64;

/// What was read of one file.
pub(crate) struct Tail {
    meta: FileMeta,
    /// Up to where whole lines were read, in bytes.
    read_to: u64,
    /// The last bytes before that.
    mark: Vec<u8>,
    /// Whether that is in the middle of a line which is longer than any.
    is_inside: bool,
    /// Whether the beginning of the file was read.
    is_whole: bool,
    draft: Draft,
}

impl Tail {
    /// Reads what is new since `before`, or the end of the file. A link, another user's file and one
    /// with several names are not read.
    pub(crate) fn read(path: &Path, adapter: Adapter, uid: u32, before: Option<Self>) -> Option<Self> {
        let before = match before {
            Some(same) if look_at(path) == Some(same.meta) => return Some(same),
            before => before,
        };
        let (fd, meta) = open_plain(path).ok()?;
        if meta.links != 1 || meta.ownership.uid != uid {
            return None;
        }
        let mut tail = match before.filter(|before| before.has_grown(&fd, &meta)) {
            Some(tail) => Self { meta, ..tail },
            None => Self::end(&fd, meta, adapter)?,
        };
        tail.go_on(&fd, adapter)?;
        Some(tail)
    }

    /// Returns whether it is the file that it was, with more at its end.
    fn has_grown(&self, fd: &OwnedFd, meta: &FileMeta) -> bool {
        let is_same = (meta.dev, meta.ino) == (self.meta.dev, self.meta.ino);
        let mark = || bytes(fd, self.read_to.saturating_sub(self.mark.len() as u64), self.mark.len());
        is_same && meta.size > self.meta.size && mark().as_ref() == Some(&self.mark)
    }

    /// Reads as much of the end as is needed.
    fn end(fd: &OwnedFd, meta: FileMeta, adapter: Adapter) -> Option<Self> {
        let mut span = FIRST;
        loop {
            let from = meta.size.saturating_sub(span);
            let text = bytes(fd, from, usize::try_from(meta.size - from).ok()?)?;
            // The first line may be cut.
            let skipped = if from == 0 { 0 } else { text.iter().position(|byte| *byte == b'\n')? + 1 };
            let mut tail = Self {
                meta,
                read_to: from,
                mark: Vec::new(),
                is_inside: false,
                is_whole: from == 0,
                draft: Draft::default(),
            };
            tail.lines(&text, skipped, adapter);
            if from == 0 || span >= MOST || (adapter.is_settled)(&tail.draft) {
                return Some(tail);
            }
            span = (span * 4).min(MOST);
        }
    }

    /// Reads on up to the end of the last whole line.
    fn go_on(&mut self, fd: &OwnedFd, adapter: Adapter) -> Option<()> {
        while self.read_to < self.meta.size {
            let span = (self.meta.size - self.read_to).min(MOST);
            let text = bytes(fd, self.read_to, usize::try_from(span).ok()?)?;
            if text.is_empty() {
                return Some(());
            }
            let from = self.read_to;
            match text.iter().position(|byte| *byte == b'\n').filter(|_| self.is_inside) {
                Some(end) => {
                    self.is_inside = false;
                    self.lines(&text, end + 1, adapter);
                }
                None if self.is_inside => self.read_to += text.len() as u64,
                None => self.lines(&text, 0, adapter),
            }
            if self.read_to == from {
                if span < MOST {
                    return Some(());
                }
                self.is_inside = true;
                self.draft.skipped += 1;
                self.read_to += span;
            }
        }
        Some(())
    }

    /// Takes over the whole lines of a text that begins where was read up to, but for its beginning.
    fn lines(&mut self, text: &[u8], skipped: usize, adapter: Adapter) {
        let Some(last) = text.iter().rposition(|byte| *byte == b'\n') else { return };
        let whole = text.get(..=last).unwrap_or_default();
        let lines = whole.get(skipped..).unwrap_or_default();
        lines.split(|byte| *byte == b'\n').for_each(|line| self.draft.line(adapter, line));
        self.mark = whole.get(whole.len().saturating_sub(MARK)..).unwrap_or_default().to_vec();
        self.read_to += whole.len() as u64;
    }

    /// Returns what is known.
    pub(crate) fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Returns when the file was last written.
    pub(crate) fn written_at(&self) -> Timestamp {
        self.meta.modified_at
    }

    /// Returns since when edits are known, if not since the beginning.
    pub(crate) fn edits_since(&self) -> Option<Timestamp> {
        let has_all = self.is_whole || self.draft.has_all_edits;
        if has_all { None } else { self.draft.first_at.or(Some(self.meta.modified_at)) }
    }
}

/// Reads some bytes of a file, fewer where it has become shorter.
fn bytes(fd: &OwnedFd, from: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let at = from + bytes.len() as u64;
        if retry_on_intr(|| pread(fd, spare_capacity(&mut bytes), at)).ok()? == 0 {
            break;
        }
    }
    bytes.truncate(length);
    Some(bytes)
}
