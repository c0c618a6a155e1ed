//! The names in a folder, in one piece: there can be thousands, and they are soon forgotten.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::FileType;

/// Names in a folder, without an allocation for each.
#[derive(Default)]
pub(crate) struct Listing {
    names: Vec<u8>,
    entries: Vec<(Range<usize>, FileType)>,
}

impl Listing {
    pub(crate) fn add(&mut self, name: &OsStr, sort: FileType) {
        let from = self.names.len();
        self.names.extend(name.as_bytes());
        self.entries.push((from..self.names.len(), sort));
    }

    /// Puts the names in order.
    pub(crate) fn sort(&mut self) {
        let name = |at: &Range<usize>| self.names.get(at.clone());
        let order = |(one, _): &(_, _), (other, _): &(_, _)| -> Ordering { name(one).cmp(&name(other)) };
        self.entries.sort_unstable_by(order);
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries, each built on demand.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry> {
        self.entries.iter().map(|(at, sort)| {
            let name = OsStr::from_bytes(self.names.get(at.clone()).unwrap_or_default());
            Entry { name: name.to_owned(), sort: *sort }
        })
    }
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, without any `/`.
    pub name: OsString,
    /// Its type, as far as the listing shows it.
    pub sort: FileType,
}
