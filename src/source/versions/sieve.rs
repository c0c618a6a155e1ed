//! Reads transcripts piece by piece: only the lines that may bear on the content of a file stay in memory.

use std::os::fd::OwnedFd;
use std::path::Path;

use bstr::{ByteSlice, Finder};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::source::os::fence::Fence;
use crate::source::os::open::plain::{open_plain, read_into};

/// How much is read at once, in bytes: it stays in the processor's cache.
const PIECE: usize = 256 << 10;
/// How much of the lines that matter is kept, the newest, in bytes.
const MOST_KEPT: usize = 256 << 20;
/// What a line with the session's folder has; the first one is kept.
const FOLDER: &str = "\"cwd\"";

/// The lines of a transcript that may matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TranscriptLines {
    pub(super) lines: Vec<u8>,
    /// How many parts were left out because they exceed a bound: long lines, and what is too much.
    pub(super) left_out: u64,
}

/// Which lines matter.
struct Sieve {
    marks: Vec<Finder<'static>>,
    folder: Option<Finder<'static>>,
    kept: TranscriptLines,
}

/// A file that is read from one offset to the next.
struct Pieces {
    fd: OwnedFd,
    at: u64,
    size: u64,
    piece: Vec<u8>,
}

/// Reads the lines of a file, or of its last `most` bytes, that have any of these marks, without those longer than a
/// bound.
///
/// # Errors
/// It cannot be read, or is not a plain file of this user's.
pub(super) fn sieved(
    path: &Path,
    marks: &[&'static str],
    (most, longest): (u64, usize),
    fence: &Fence,
) -> Result<TranscriptLines, Errno> {
    let mut pieces = Pieces::open(path, fence)?;
    let marks = marks.iter().map(|mark| Finder::new(*mark)).collect();
    let mut sieve = Sieve { marks, folder: Some(Finder::new(FOLDER)), kept: TranscriptLines::default() };
    pieces.at = pieces.size.saturating_sub(most);
    if pieces.at > 0 {
        sieve.kept.left_out += 1;
        pieces.skip_line()?;
    }
    let mut wanted = PIECE;
    while pieces.read(wanted)? {
        let is_last = pieces.is_last();
        match pieces.piece.rfind_byte(b'\n') {
            Some(end) => {
                sieve.take(pieces.piece.get(..=end).unwrap_or_default());
                pieces.pass(end + 1);
                wanted = PIECE;
            }
            None if pieces.piece.len() > longest => {
                sieve.kept.left_out += 1;
                pieces.skip_line()?;
                wanted = PIECE;
            }
            None if is_last => {
                sieve.take(&pieces.piece);
                break;
            }
            None => wanted = wanted.saturating_mul(2).min(longest.saturating_add(1)),
        }
    }
    Ok(sieve.kept)
}

/// Returns whether a file has any of these texts; what is too far from its end is not searched.
///
/// # Errors
/// As [`sieved`].
pub(super) fn has_any(path: &Path, texts: &[Finder<'_>], most: u64, fence: &Fence) -> Result<bool, Errno> {
    let mut pieces = Pieces::open(path, fence)?;
    pieces.at = pieces.size.saturating_sub(most);
    let longest = texts.iter().map(|text| text.needle().len()).max().unwrap_or_default();
    while pieces.read(PIECE.max(longest.saturating_mul(2)))? {
        if texts.iter().any(|text| text.find(&pieces.piece).is_some()) {
            return Ok(true);
        }
        if pieces.is_last() {
            break;
        }
        pieces.pass(pieces.piece.len().saturating_sub(longest).max(1));
    }
    Ok(false)
}

impl Pieces {
    fn open(path: &Path, fence: &Fence) -> Result<Self, Errno> {
        if !fence.reaches(path) {
            return Err(Errno::ACCESS);
        }
        let (fd, meta) = open_plain(path)?;
        if meta.ownership.uid != geteuid().as_raw() {
            return Err(Errno::PERM);
        }
        Ok(Self { fd, at: 0, size: meta.size, piece: Vec::new() })
    }

    /// Reads up to this many bytes from here. Returns whether there are any.
    fn read(&mut self, most: usize) -> Result<bool, Errno> {
        let left = usize::try_from(self.size.saturating_sub(self.at)).unwrap_or(usize::MAX);
        read_into(&self.fd, self.at, (most.min(left), 0), &mut self.piece)?;
        Ok(!self.piece.is_empty())
    }

    /// Returns whether what was read reaches the end.
    fn is_last(&self) -> bool {
        self.at.saturating_add(self.piece.len() as u64) >= self.size
    }

    fn pass(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes as u64);
    }

    /// Goes behind the end of this line.
    fn skip_line(&mut self) -> Result<(), Errno> {
        self.piece = Vec::new();
        while self.read(PIECE)? {
            match self.piece.find_byte(b'\n') {
                Some(end) => {
                    self.pass(end + 1);
                    break;
                }
                None => self.pass(self.piece.len()),
            }
        }
        Ok(())
    }
}

impl Sieve {
    /// Keeps those of some whole lines that matter.
    fn take(&mut self, whole: &[u8]) {
        let first = self.folder.take_if(|folder| folder.find(whole).is_some());
        let mut lines: Vec<(usize, usize)> = Vec::new();
        for mark in &self.marks {
            found(whole, mark, usize::MAX, &mut lines);
        }
        if let Some(folder) = first {
            found(whole, &folder, 1, &mut lines);
        }
        lines.sort_unstable();
        lines.dedup();
        for (begin, end) in lines {
            self.kept.lines.extend(whole.get(begin..end).unwrap_or_default());
        }
        if self.kept.lines.len() > MOST_KEPT {
            let half = self.kept.lines.get(MOST_KEPT / 2..).and_then(|rest| rest.find_byte(b'\n'));
            self.kept.lines.drain(..half.map_or(self.kept.lines.len(), |end| MOST_KEPT / 2 + end + 1));
            self.kept.left_out += 1;
        }
    }
}

/// Adds where lines with a mark begin and end.
fn found(whole: &[u8], mark: &Finder<'_>, most: usize, lines: &mut Vec<(usize, usize)>) {
    let (mut at, mut number) = (0, 0);
    while number < most
        && let Some(place) = whole.get(at..).and_then(|rest| mark.find(rest)).map(|place| at + place)
    {
        let before = whole.get(..place).and_then(|before| before.rfind_byte(b'\n'));
        let after = whole.get(place..).and_then(|after| after.find_byte(b'\n'));
        at = after.map_or(whole.len(), |after| place + after + 1);
        lines.push((before.map_or(0, |end| end + 1), at));
        number += 1;
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;

    #[test]
    fn lines_that_matter_are_kept_in_order_and_long_ones_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let check = |text: &str, longest: usize, expected: &str, left_out: u64| {
            std::fs::write(&path, text).unwrap();
            let sieved = sieved(&path, &["\"x\"", "\"y\""], (u64::MAX, longest), &Fence::default()).unwrap();
            assert_eq!(
                (String::from_utf8(sieved.lines).unwrap(), sieved.left_out),
                (expected.into(), left_out)
            );
        };
        check("a\n\"y\" \"x\"\nb\n\"x\" \"x\"\nc", 100, "\"y\" \"x\"\n\"x\" \"x\"\n", 0);
        check("a\n\"x\" last", 100, "\"x\" last", 0);
        check("b\n\"cwd\" 1\n\"cwd\" 2\n", 100, "\"cwd\" 1\n", 0);
        check("", 100, "", 0);
        let long = "z".repeat(3 * PIECE);
        let text = format!("\"x\" 1\n\"x\" {long}\n\"x\" 2\n");
        check(&text, 2 * PIECE, "\"x\" 1\n\"x\" 2\n", 1);
        check(&text, 4 * PIECE, &text, 0);
        check(&format!("\"x\" 1\n\"x\" {long}"), 2 * PIECE, "\"x\" 1\n", 1);
    }

    #[test]
    fn a_text_is_found_across_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let has = |name: &str| {
            has_any(&path, &[Finder::new("none"), Finder::new(name)], u64::MAX, &Fence::default()).unwrap()
        };
        for before in [0, PIECE - 3, 2 * PIECE] {
            std::fs::write(&path, format!("{}pay.rs", "z".repeat(before))).unwrap();
            assert!(has("pay.rs") && !has("cart.rs"), "{before}");
        }
    }
}
