//! What git's index has of a file, which the next commit would have (gitformat-index(5)).

use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use jiff::Timestamp;

use crate::core::model::FileMeta;
use crate::core::model::text::hex;
use crate::source::os::open::folder::look_at;
use crate::source::os::open::meta::is_sure;
use crate::source::os::open::plain::small;
use crate::source::repos::objects::Name;

/// The largest index that is read, in bytes: one of some 600,000 files.
const MOST: usize = 64 << 20;
/// The most bytes of one whose paths are written out whole.
const MOST_WHOLE: usize = 4 * MOST;
/// The most bytes of a repository's configuration.
const MOST_CONFIG: usize = 256 << 10;
/// The most paths that are remembered.
const MOST_HELD: usize = 4_096;
/// The length of an entry before its path: times, numbers and sizes, the object's name, and flags.
const ENTRY: usize = 62;

/// What an index has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexContent {
    /// That cannot be determined.
    Unread,
    Nothing,
    /// Several versions of a file.
    Conflict,
    File(Name),
}

/// The index of a working tree.
pub(crate) struct Index {
    /// The folder in which it lies, and the repository's own.
    own: PathBuf,
    common: PathBuf,
    /// Its facts when it was read, and when that was.
    read: Option<(FileMeta, Timestamp)>,
    /// Its entries, in this look only.
    entries: Option<Entries>,
    /// The content that was found.
    held: HashMap<PathBuf, IndexContent>,
}

impl Index {
    /// Prepares to read the index of a working tree with this git folder.
    pub(crate) fn new(own: &Path, common: &Path) -> Self {
        let (own, common) = (own.to_path_buf(), common.to_path_buf());
        Self { own, common, read: None, entries: None, held: HashMap::new() }
    }

    /// Returns its content at a path below the working tree.
    pub(crate) fn held(&mut self, path: &Path, now: Timestamp) -> IndexContent {
        if !self.renew(now) {
            return IndexContent::Unread;
        }
        if let Some(held) = self.held.get(path) {
            return *held;
        }
        let held = self.entries().map_or(IndexContent::Unread, |entries| entries.find(path));
        self.held.insert(path.to_path_buf(), held);
        held
    }

    /// Returns whether it has anything below a folder; `None` if that cannot be determined.
    pub(crate) fn has_below(&mut self, folder: &Path, now: Timestamp) -> Option<bool> {
        if self.renew(now) { Some(self.entries()?.has_below(folder)) } else { None }
    }

    /// Forgets what was read of an earlier version; returns whether there is anything to read now.
    fn renew(&mut self, now: Timestamp) -> bool {
        let path = self.own.join("index");
        let Some(meta) = look_at(&path) else {
            let is_absent = path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
            // To git a missing index is an empty one.
            (self.read, self.held) = (None, HashMap::new());
            self.entries = is_absent.then(Entries::default);
            return is_absent;
        };
        let is_same = |(known, read_at): (FileMeta, Timestamp)| {
            known == meta && (read_at == now || is_sure(read_at, meta.touched_at()))
        };
        if !self.read.is_some_and(is_same) {
            (self.read, self.entries, self.held) = (Some((meta, now)), None, HashMap::new());
        }
        true
    }

    fn entries(&mut self) -> Option<&Entries> {
        if self.entries.is_none() {
            self.entries = read(&self.own, &self.common);
        }
        self.entries.as_ref()
    }

    /// Ends a look, and keeps the results.
    pub(crate) fn end_look(&mut self) {
        self.entries = None;
        if self.held.len() > MOST_HELD {
            self.held.clear();
        }
    }
}

/// Reads an index, and what it shares with earlier ones.
fn read(own: &Path, common: &Path) -> Option<Entries> {
    // There names are longer.
    let config = small(&common.join("config"), MOST_CONFIG).unwrap_or_default();
    if config.to_ascii_lowercase().find(b"sha256").is_some() {
        return None;
    }
    let entries = Entries::parse(small(&own.join("index"), MOST).ok()?)?;
    match &entries.link {
        Some(link) if link.base != Name::default() => {
            let base = own.join(format!("sharedindex.{}", hex(&link.base)));
            entries.upon(Entries::parse(small(&base, MOST).ok()?)?)
        }
        Some(_) | None => Some(entries),
    }
}

/// An index as it was read.
#[derive(Default)]
struct Entries {
    bytes: Vec<u8>,
    /// Where each entry begins; they are in the order of their paths.
    places: Vec<usize>,
    /// Its part that lies in another file.
    link: Option<Link>,
}

/// How an index changes the one that it shares with others (gitformat-index(5), "Split index").
struct Link {
    /// The other's checksum, by which it is named; zeros for none.
    base: Name,
    /// Which of its entries are gone, and which are replaced by the first ones here, that have no path.
    deleted: Vec<bool>,
    replaced: Vec<bool>,
}

impl Entries {
    /// Finds the entries; `None` if there is something unknown.
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
            // At least one byte behind a path is 0, and entries are multiples of eight long.
            at += (head_of(entry)? + path_of(entry)?.len() + 8) & !7;
        }
        // Extensions follow, each with its size, and then the checksum.
        let (mut rest, mut link) = (bytes.get(at..)?, None);
        while rest.len() > 20 {
            let (name, more) = rest.split_at_checked(4)?;
            let (size, more) = more.split_at_checked(4)?;
            let (extension, more) = more.split_at_checked(usize::try_from(number(size)).ok()?)?;
            match name {
                b"link" => link = Some(Link::parse(extension)?),
                // Some folders are one entry each.
                b"sdir" => {}
                // Others that must be understood begin with a small letter.
                _ if !name.first()?.is_ascii_uppercase() => return None,
                _ => {}
            }
            rest = more;
        }
        (rest.len() == 20).then_some(Self { bytes, places, link })
    }

    /// Puts these entries in the places of those that they share with others.
    fn upon(self, base: Self) -> Option<Self> {
        let Link { deleted, replaced, .. } = self.link?;
        let is_set = |bits: &[bool], at: usize| bits.get(at).copied().unwrap_or_default();
        let mut own = self.places.iter().filter_map(|at| self.bytes.get(*at..));
        let mut entries: Vec<Vec<u8>> = Vec::new();
        for (number, place) in base.places.iter().enumerate() {
            let shared = base.bytes.get(*place..)?;
            let entry = if is_set(&replaced, number) { own.next()? } else { shared };
            if !is_set(&deleted, number) {
                let head = entry.get(..head_of(entry)?)?;
                entries.push([head, path_of(shared)?].concat());
            }
        }
        for entry in own {
            entries.push(entry.get(..head_of(entry)? + path_of(entry)?.len())?.to_vec());
        }
        let path = |entry: &Vec<u8>| path_of(entry).unwrap_or_default().to_vec();
        entries.sort_by_cached_key(path);
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        for entry in entries {
            places.push(bytes.len());
            bytes.extend(entry);
            bytes.push(0);
        }
        (bytes.len() <= MOST_WHOLE).then_some(Self { bytes, places, link: None })
    }

    fn entry(&self, place: &usize) -> &[u8] {
        self.bytes.get(*place..).unwrap_or_default()
    }

    /// Returns the object at a path.
    fn find(&self, path: &Path) -> IndexContent {
        let wanted = path.as_os_str().as_bytes();
        let compare = |place: &usize| path_of(self.entry(place)).unwrap_or_default().cmp(wanted);
        let Ok(at) = self.places.binary_search_by(compare) else {
            let is_in_folder = path.ancestors().skip(1).any(|above| self.has_whole(above));
            return if is_in_folder { IndexContent::Unread } else { IndexContent::Nothing };
        };
        let found = self.places.get(at).map(|place| self.entry(place)).unwrap_or_default();
        let name = found.get(40..60).and_then(|name| name.try_into().ok());
        match (found.get(60).map(|flags| flags & 0x30), name) {
            (Some(0), Some(name)) => IndexContent::File(name),
            (Some(_), Some(_)) => IndexContent::Conflict,
            (_, _) => IndexContent::Unread,
        }
    }

    /// Returns whether a folder is one entry, as in a sparse index.
    fn has_whole(&self, folder: &Path) -> bool {
        let wanted = [folder.as_os_str().as_bytes(), b"/"].concat();
        let compare = |place: &usize| path_of(self.entry(place)).unwrap_or_default().cmp(&wanted);
        self.places.binary_search_by(compare).is_ok()
    }

    fn has_below(&self, folder: &Path) -> bool {
        let mut begin = folder.as_os_str().as_bytes().to_vec();
        if !begin.is_empty() {
            begin.push(b'/');
        }
        let is_before = |place: &usize| path_of(self.entry(place)).unwrap_or_default() < begin.as_slice();
        let first = self.places.get(self.places.partition_point(is_before));
        first.is_some_and(|place| path_of(self.entry(place)).is_some_and(|path| path.starts_with(&begin)))
    }
}

impl Link {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (base, rest) = bytes.split_first_chunk::<20>()?;
        if rest.is_empty() {
            return Some(Self { base: *base, deleted: Vec::new(), replaced: Vec::new() });
        }
        let (deleted, rest) = bitmap(rest)?;
        let (replaced, rest) = bitmap(rest)?;
        rest.is_empty().then_some(Self { base: *base, deleted, replaced })
    }
}

/// Reads a bitmap of runs and words, and returns what follows (gitformat-bitmap(5), "EWAH").
fn bitmap(bytes: &[u8]) -> Option<(Vec<bool>, &[u8])> {
    let (head, rest) = bytes.split_at_checked(8)?;
    let (bits, words) = head.split_at_checked(4)?;
    let (bits, words) = (usize::try_from(number(bits)).ok()?, usize::try_from(number(words)).ok()?);
    let (packed, rest) = rest.split_at_checked(words.checked_mul(8)?)?;
    let mut words = packed.chunks(8).map(number);
    let mut found = Vec::new();
    while let Some(run) = words.next() {
        // A bit, how many words are all that, and how many words come then as they are.
        let (same, literal) = (run >> 1 & u64::from(u32::MAX), run >> 33);
        let length = usize::try_from(same).ok()?.checked_mul(64)?;
        if found.len().checked_add(length)? > MOST {
            return None;
        }
        found.resize(found.len() + length, run & 1 == 1);
        for _ in 0..literal {
            let word = words.next()?;
            found.extend((0..64).map(|bit| word >> bit & 1 == 1));
        }
    }
    found.truncate(bits);
    // The start of its last run matters only to a program that appends to it.
    Some((found, rest.get(4..)?))
}

/// Writes the entries of version 4 as version 3 has them: in version 4 each path only has its difference from the one
/// before.
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

/// Returns the length of an entry before its path: longer with more flags.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_is_not_there_is_empty_and_one_that_cannot_be_read_is_not() {
        let own = tempfile::tempdir().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let mut index = Index::new(own.path(), own.path());
        assert_eq!(index.held(Path::new("a"), now), IndexContent::Nothing);
        assert_eq!(index.has_below(Path::new(""), now), Some(false));
        std::os::unix::fs::symlink("index", own.path().join("index")).unwrap();
        assert_eq!(index.held(Path::new("a"), now), IndexContent::Unread);
        assert_eq!(index.has_below(Path::new(""), now), None);
    }
}
