//! Objects of a git repository, loose or packed, by their names (gitformat-pack(5)). Content is only believed if it
//! has the requested name.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit as inflate;
use sha1::{Digest, Sha1};

use crate::core::model::text::hex;
use crate::source::os::open::folder::{Folder, look_at};
use crate::source::os::open::plain::{open_plain, read_at, small};

/// The largest object that is read, in bytes: a tree of some 100,000 entries.
const MOST: usize = 4 << 20;
/// The most packs that are searched; git itself joins them from 50 on.
const MOST_PACKS: usize = 100;
/// The longest chain of deltas that is followed; git makes none longer than 50 by default.
const MOST_DELTAS: usize = 100;
/// Where the names of an index begin: behind its signature, version and fan-out.
const NAMES: u64 = 8 + 256 * 4;

/// The name of an object, in a repository that names them by SHA-1.
pub(crate) type Name = [u8; 20];

/// The first 16 digits of a name, as a number.
pub(crate) type Short = u64;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }

    fn of_word(word: &[u8]) -> Option<Self> {
        [Self::Commit, Self::Tree, Self::Blob, Self::Tag]
            .into_iter()
            .find(|kind| kind.word().as_bytes() == word)
    }
}

/// Returns the name that an object of this content has.
pub(crate) fn name_of(kind: Kind, content: &[u8]) -> Name {
    let head = format!("{} {}\0", kind.word(), content.len());
    Sha1::new().chain_update(head).chain_update(content).finalize().into()
}

/// Returns the beginning of a name, which distinguishes contents that were not crafted to be alike.
pub(crate) fn short(name: &Name) -> Short {
    name.first_chunk().copied().map_or(0, u64::from_be_bytes)
}

/// Reads a name in hexadecimal digits.
pub(crate) fn parse_name(text: &[u8]) -> Option<Name> {
    let digits = str::from_utf8(text).ok().filter(|text| text.len() == 40)?;
    let mut name = Name::default();
    for (at, byte) in name.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(name)
}

/// Reads the content of an object from a folder of objects; `None` if that fails in any way.
pub(crate) fn read(objects: &Path, kind: Kind, name: &Name) -> Option<Vec<u8>> {
    let found = loose(objects, name, MOST).or_else(|| packed(&objects.join("pack"), name));
    let (_, content) = found.filter(|(found, _)| *found == kind)?;
    (name_of(kind, &content) == *name).then_some(content)
}

/// Reads the content of a loose object of at most so many bytes; `None` if that fails in any way.
pub(crate) fn read_loose(objects: &Path, kind: Kind, name: &Name, most: usize) -> Option<Vec<u8>> {
    let (_, content) = loose(objects, name, most).filter(|(found, _)| *found == kind)?;
    (name_of(kind, &content) == *name).then_some(content)
}

/// Returns a content as a loose object has it, before it is compressed (gitrepository-layout(5)).
pub(crate) fn with_head(kind: Kind, content: &[u8]) -> Vec<u8> {
    [format!("{} {}\0", kind.word(), content.len()).as_bytes(), content].concat()
}

/// Returns since when an object has certainly been there: the last change of a file that has it.
pub(crate) fn there_since(objects: &Path, name: &Name) -> Option<Timestamp> {
    let has = |index: &PathBuf| Pack::open(index).is_some_and(|pack| pack.place(name).is_some());
    let packs = packs(&objects.join("pack")).into_iter().flatten().filter(has);
    let files = packs.map(|index| index.with_extension("pack")).chain([loose_path(objects, name)]);
    files.filter_map(|file| Some(look_at(&file)?.touched_at())).min()
}

/// Returns where an object lies if it is loose.
pub(crate) fn loose_path(objects: &Path, name: &Name) -> PathBuf {
    let digits = hex(name);
    let (folder, file) = digits.split_at(2);
    objects.join(folder).join(file)
}

fn loose(objects: &Path, name: &Name, most: usize) -> Option<(Kind, Vec<u8>)> {
    // What cannot be compressed becomes somewhat longer: five bytes for each 64 KiB, and the head.
    let most = most + most / 1_024 + 64;
    let all = inflate(&small(&loose_path(objects, name), most).ok()?, most).ok()?;
    let end = all.iter().position(|byte| *byte == 0)?;
    let kind = all.get(..end)?.split(|byte| *byte == b' ').next()?;
    Some((Kind::of_word(kind)?, all.get(end + 1..)?.to_vec()))
}

fn packed(folder: &Path, name: &Name) -> Option<(Kind, Vec<u8>)> {
    packs(folder)?.iter().find_map(|index| Pack::open(index)?.object(name))
}

/// Returns the indexes of a folder's packs.
fn packs(folder: &Path) -> Option<Vec<PathBuf>> {
    let is_index = |name: &OsStr| Path::new(name).extension().is_some_and(|end| end == "idx");
    let indexes = Folder::open(folder).ok()?.entries(is_index).ok()?;
    Some(indexes.iter().take(MOST_PACKS).map(|entry| folder.join(&entry.name)).collect())
}

/// A pack with its index.
struct Pack {
    index: OwnedFd,
    data: OwnedFd,
    /// How many objects it has.
    count: u64,
}

impl Pack {
    fn open(index: &Path) -> Option<Self> {
        let (data, _) = open_plain(&index.with_extension("pack")).ok()?;
        let (index, _) = open_plain(index).ok()?;
        let is_version_2 = exact(&index, 0, 8)? == b"\xfftOc\0\0\0\x02";
        let count = number(&exact(&index, NAMES - 4, 4)?);
        is_version_2.then_some(Self { index, data, count })
    }

    /// Returns where an object begins.
    fn place(&self, name: &Name) -> Option<u64> {
        let first = u64::from(*name.first()?);
        let upto = |byte: u64| Some(number(&exact(&self.index, 8 + byte * 4, 4)?));
        let (from, to) = (if first == 0 { 0 } else { upto(first - 1)? }, upto(first)?);
        let length = usize::try_from(to.checked_sub(from)?).ok()?.checked_mul(20).filter(|it| *it <= MOST)?;
        let names = exact(&self.index, NAMES + from * 20, length)?;
        let (names, _) = names.as_chunks::<20>();
        let at = from + u64::try_from(names.binary_search(name).ok()?).ok()?;
        let places = NAMES + self.count * 24;
        let place = number(&exact(&self.index, places + at * 4, 4)?);
        if place < 1 << 31 {
            return Some(place);
        }
        let far = exact(&self.index, places + self.count * 4 + (place - (1 << 31)) * 8, 8)?;
        Some(number(&far))
    }

    fn object(&self, name: &Name) -> Option<(Kind, Vec<u8>)> {
        let mut place = self.place(name)?;
        let mut deltas = Vec::new();
        loop {
            let entry = Entry::read(&self.data, place)?;
            let before = match entry.kind {
                1 => return applied(Kind::Commit, entry.content, &deltas),
                2 => return applied(Kind::Tree, entry.content, &deltas),
                3 => return applied(Kind::Blob, entry.content, &deltas),
                4 => return applied(Kind::Tag, entry.content, &deltas),
                6 => place.checked_sub(entry.back)?,
                7 => self.place(&entry.base)?,
                _ => return None,
            };
            deltas.push(entry.content);
            place = before;
            if deltas.len() > MOST_DELTAS {
                return None;
            }
        }
    }
}

/// What stands in a pack at some place.
struct Entry {
    kind: u8,
    /// How far before it the object lies that it changes.
    back: u64,
    /// The name of the object that it changes.
    base: Name,
    content: Vec<u8>,
}

impl Entry {
    fn read(pack: &OwnedFd, place: u64) -> Option<Self> {
        /// The longest head: ten bytes of size, and a name.
        const HEAD: usize = 32;
        let head = read_at(pack, place, HEAD, 0).ok()?;
        let mut bytes = head.iter().copied();
        let first = bytes.next()?;
        let mut size = u64::from(first & 15);
        let (mut byte, mut shift) = (first, 4);
        while byte & 0x80 != 0 {
            byte = bytes.next()?;
            size |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
        }
        let kind = (first >> 4) & 7;
        let (mut back, mut base) = (0, Name::default());
        if kind == 6 {
            byte = bytes.next()?;
            back = u64::from(byte & 0x7f);
            while byte & 0x80 != 0 {
                byte = bytes.next()?;
                back = back.checked_add(1)?.checked_mul(128)? | u64::from(byte & 0x7f);
            }
        } else if kind == 7 {
            for slot in &mut base {
                *slot = bytes.next()?;
            }
        }
        let size = usize::try_from(size).ok().filter(|size| *size <= MOST)?;
        let begin = place + u64::try_from(head.len() - bytes.len()).ok()?;
        // Deflate adds at most five bytes for each 16 KiB, and zlib six.
        let packed = read_at(pack, begin, size + size / 1_000 + 64, 0).ok()?;
        let content = inflate(&packed, size).ok().filter(|content| content.len() == size)?;
        Some(Self { kind, back, base, content })
    }
}

/// Changes an object by deltas, the last first.
fn applied(kind: Kind, content: Vec<u8>, deltas: &[Vec<u8>]) -> Option<(Kind, Vec<u8>)> {
    let content = deltas.iter().rev().try_fold(content, |content, delta| changed(&content, delta))?;
    Some((kind, content))
}

fn changed(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = delta.iter().copied();
    let (before, after) = (size(&mut bytes)?, size(&mut bytes)?);
    if before != base.len() || after > MOST {
        return None;
    }
    let mut out = Vec::with_capacity(after);
    while let Some(order) = bytes.next() {
        if order & 0x80 == 0 {
            let length = usize::from(order);
            out.extend(bytes.by_ref().take(length));
            continue;
        }
        let mut field = |bits: std::ops::Range<u32>| {
            let mut value = 0;
            for (shift, bit) in bits.enumerate() {
                if order & (1 << bit) != 0 {
                    value |= usize::from(bytes.next()?) << (8 * shift);
                }
            }
            Some(value)
        };
        let (from, length) = (field(0..4)?, field(4..7)?);
        let length = if length == 0 { 0x10000 } else { length };
        out.extend(base.get(from..from.checked_add(length)?)?);
        if out.len() > after {
            return None;
        }
    }
    (out.len() == after).then_some(out)
}

fn size(bytes: &mut impl Iterator<Item = u8>) -> Option<usize> {
    let (mut size, mut shift) = (0_usize, 0);
    loop {
        let byte = bytes.next()?;
        size |= usize::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
}

fn exact(file: &OwnedFd, from: u64, length: usize) -> Option<Vec<u8>> {
    read_at(file, from, length, 0).ok().filter(|bytes| bytes.len() == length)
}

/// Reads a number, the largest byte first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
