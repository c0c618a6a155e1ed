//! The lines of a file, read one after the other from an offset.

use std::os::fd::OwnedFd;

use crate::format::work::{Adapter, Draft};
use crate::source::os::open::plain::read_at;

/// The longest line that is read, in bytes. Lines of 541 kB were seen.
pub(crate) const MOST: u64 = 2 << 20;
/// How many bytes before the read offset show whether the file was rewritten.
const MARK: usize = 64;

/// The content that was read, from the beginning of the file unless stated otherwise.
#[derive(Default)]
pub(crate) struct Lines {
    /// Up to where the file was read, in bytes.
    pub(crate) read_to: u64,
    /// The content of its lines.
    pub(crate) draft: Draft,
    /// The last bytes that were read.
    mark: Vec<u8>,
    /// Whether that is in the middle of a line which is passed over.
    pub(crate) is_inside: bool,
    /// How much of it was the middle of such lines, in bytes.
    pub(crate) passed_over: u64,
    /// Whether any whole line was read.
    pub(crate) has_lines: bool,
}

impl Lines {
    /// Begins with the first line after an offset.
    pub(crate) fn from_offset(place: u64) -> Self {
        Self { read_to: place, is_inside: place > 0, ..Self::default() }
    }

    /// Returns whether the bytes before the read offset are unchanged.
    pub(crate) fn is_as_read(&self, fd: &OwnedFd) -> bool {
        let length = self.mark.len();
        bytes(fd, self.read_to.saturating_sub(length as u64), length as u64).as_ref() == Some(&self.mark)
    }

    /// Continues reading up to the end of the last whole line.
    pub(crate) fn go_on(&mut self, fd: &OwnedFd, size: u64, adapter: Adapter) -> Option<()> {
        while self.piece(fd, size, MOST, adapter)? {}
        Some(())
    }

    /// Reads one piece, or one line that is longer. Returns whether there was anything new in it.
    pub(crate) fn piece(&mut self, fd: &OwnedFd, size: u64, most: u64, adapter: Adapter) -> Option<bool> {
        let left = size.saturating_sub(self.read_to);
        let read = |most: u64| {
            let text = bytes(fd, self.read_to, left.min(most))?;
            let end = text.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
            Some((text, end))
        };
        let is_long = |end: Option<usize>| end.is_none() && most < MOST && !self.is_inside;
        let (text, end) = match read(most)? {
            (_, end) if is_long(end) => read(MOST)?,
            piece => piece,
        };
        match end {
            Some(end) => self.take(&text, end, adapter),
            None if self.is_inside => {
                self.passed_over += text.len() as u64;
                self.pass(&text);
            }
            // A crash has left this unwritten: a record may follow on the same line.
            None if text.first() == Some(&0) && text.len() as u64 == MOST => {
                let run = text.iter().position(|byte| *byte != 0).unwrap_or(text.len());
                self.pass(text.get(..run).unwrap_or_default());
            }
            None if text.len() as u64 == MOST => {
                self.is_inside = true;
                self.draft.loses();
                self.passed_over += text.len() as u64;
                self.pass(&text);
            }
            None => return Some(false),
        }
        Some(!text.is_empty())
    }

    /// Takes over the whole lines of a text, of which the first ends there.
    fn take(&mut self, text: &[u8], end: usize, adapter: Adapter) {
        let begin = if self.is_inside { end } else { 0 };
        self.passed_over += begin as u64;
        self.is_inside = false;
        let last = text.iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
        let whole = text.get(..=last).unwrap_or_default();
        let lines = whole.get(begin..).unwrap_or_default();
        self.has_lines |= !lines.is_empty();
        lines.split(|byte| *byte == b'\n').for_each(|line| self.draft.line(adapter, line));
        self.pass(whole);
    }

    fn pass(&mut self, text: &[u8]) {
        self.read_to += text.len() as u64;
        self.mark = text.get(text.len().saturating_sub(MARK)..).unwrap_or_default().to_vec();
    }
}

/// Reads some bytes of a file, fewer if it has become shorter.
fn bytes(fd: &OwnedFd, from: u64, length: u64) -> Option<Vec<u8>> {
    read_at(fd, from, usize::try_from(length).ok()?, 0).ok()
}
