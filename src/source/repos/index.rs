//! What git's index has of a file: what the next commit would have (gitformat-index(5)).

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::core::model::FileMeta;
use crate::source::os::open::folder::look_at;
use crate::source::os::open::meta::is_sure;
use crate::source::os::open::plain::small;
use crate::source::repos::objects::Name;

/// The largest index that is read, in bytes: one of some 150,000 files.
const MOST: usize = 16 << 20;
/// The most bytes of one whose paths are written out whole.
const MOST_WHOLE: usize = 4 * MOST;
/// The most paths that are remembered.
const MOST_HELD: usize = 4_096;
/// What an entry has before its path: times, numbers and sizes, the object's name, and flags.
const ENTRY: usize = 62;

/// The index of a working tree.
pub(crate) struct Index {
    path: PathBuf,
    /// What it was when it was read, and when that was.
    read: Option<(FileMeta, Timestamp)>,
    /// Its entries, in this look only.
    entries: Option<Entries>,
    /// What was found so far; nothing for what cannot be told.
    held: HashMap<PathBuf, Option<Name>>,
}

impl Index {
    /// Prepares to read the index of a working tree with this git folder.
    pub(crate) fn new(own: &Path) -> Self {
        Self { path: own.join("index"), read: None, entries: None, held: HashMap::new() }
    }

    /// Returns the object that it has at a path below the working tree, if that can be told.
    pub(crate) fn held(&mut self, path: &Path, now: Timestamp) -> Option<Name> {
        let meta = look_at(&self.path)?;
        let is_same = |(known, read_at): (FileMeta, Timestamp)| {
            known == meta && (read_at == now || is_sure(read_at, meta.touched_at()))
        };
        if !self.read.is_some_and(is_same) {
            (self.read, self.entries, self.held) = (Some((meta, now)), None, HashMap::new());
        }
        if let Some(held) = self.held.get(path) {
            return *held;
        }
        if self.entries.is_none() {
            self.entries = small(&self.path, MOST).ok().and_then(Entries::parse);
        }
        let held = self.entries.as_ref().and_then(|entries| entries.find(path));
        self.held.insert(path.to_path_buf(), held);
        held
    }

    /// Ends a look: what was found stays.
    pub(crate) fn rest(&mut self) {
        self.entries = None;
        if self.held.len() > MOST_HELD {
            self.held.clear();
        }
    }
}

/// An index as it was read.
struct Entries {
    bytes: Vec<u8>,
    /// Where each entry begins; they are in the order of their paths.
    places: Vec<usize>,
}

impl Entries {
    /// Finds the entries; `None` where the index is one of several, or has more than plain files.
    fn parse(bytes: Vec<u8>) -> Option<Self> {
        let version = number(bytes.strip_prefix(b"DIRC")?.get(..4)?);
        let count = usize::try_from(number(bytes.get(8..12)?)).ok()?;
        let bytes = match version {
            2 | 3 => bytes,
            4 => with_whole_paths(&bytes, count)?,
            _ => return None,
        };
        let (mut at, mut places) = (12, Vec::new());
        for _ in 0..count {
            places.push(at);
            let entry = bytes.get(at..)?;
            let (path, head) = (path_of(entry)?, head_of(entry)?);
            // At least one byte behind a path is 0, and entries are multiples of eight long.
            at += (head + path.len() + 8) & !7;
        }
        // What follows are extensions, each with its size, and the checksum.
        let mut rest = bytes.get(at..)?;
        while rest.len() > 20 {
            let (name, more) = rest.split_at_checked(4)?;
            let (size, more) = more.split_at_checked(4)?;
            // Those that must be understood begin with a small letter: a shared index, folders.
            if !name.first()?.is_ascii_uppercase() {
                return None;
            }
            rest = more.get(usize::try_from(number(size)).ok()?..)?;
        }
        (rest.len() == 20).then_some(Self { bytes, places })
    }

    /// Returns the object at a path that is in no conflict.
    fn find(&self, path: &Path) -> Option<Name> {
        let entry = |place: &usize| self.bytes.get(*place..).unwrap_or_default();
        let wanted = path.as_os_str().as_bytes();
        let at = self.places.binary_search_by(|place| path_of(entry(place)).unwrap_or_default().cmp(wanted));
        let found = entry(self.places.get(at.ok()?)?);
        let is_merged = found.get(60)? & 0x30 == 0;
        found.get(40..60)?.try_into().ok().filter(|_| is_merged)
    }
}

/// Writes the entries of version 4 as version 3 has them: there each path tells only how it differs from the one before.
fn with_whole_paths(bytes: &[u8], count: usize) -> Option<Vec<u8>> {
    let (head, mut rest) = bytes.split_at_checked(12)?;
    let (mut whole, mut path) = (head.to_vec(), Vec::new());
    for _ in 0..count {
        let (head, more) = rest.split_at_checked(head_of(rest)?)?;
        let (cut, more) = varint(more)?;
        let end = more.iter().position(|byte| *byte == 0)?;
        path.truncate(path.len().checked_sub(cut)?);
        path.extend_from_slice(more.get(..end)?);
        let size = head.len() + path.len();
        whole.extend_from_slice(head);
        whole.extend_from_slice(&path);
        whole.resize(whole.len() - size + ((size + 8) & !7), 0);
        if whole.len() > MOST_WHOLE {
            return None;
        }
        rest = more.get(end + 1..)?;
    }
    whole.extend_from_slice(rest);
    Some(whole)
}

/// Reads how many bytes are to be cut off, as a pack has offsets (gitformat-pack(5)), and returns what follows.
fn varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, mut rest) = bytes.split_first()?;
    let (mut byte, mut value) = (*first, usize::from(first & 0x7f));
    while byte & 0x80 != 0 {
        let (next, more) = rest.split_first()?;
        value = value.checked_add(1)?.checked_mul(0x80)? | usize::from(next & 0x7f);
        (byte, rest) = (*next, more);
    }
    Some((value, rest))
}

/// Returns how long an entry's part before its path is: longer with more flags.
fn head_of(entry: &[u8]) -> Option<usize> {
    Some(if entry.get(60)? & 0x40 == 0 { ENTRY } else { ENTRY + 2 })
}

fn path_of(entry: &[u8]) -> Option<&[u8]> {
    entry.get(head_of(entry)?..)?.split(|byte| *byte == 0).next()
}

/// Reads a number, the largest byte first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
