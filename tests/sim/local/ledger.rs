//! The oracle's knowledge of contents: the writer of each, and whether it must still exist.

use std::cell::Cell;
use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::local::files::{Files, Version};
use crate::local::processes::Life;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It must exist somewhere.
    Kept,
    /// Its own system overwrote or removed it.
    Retired,
}

/// Every content that a system ever wrote whole.
#[derive(Default)]
pub(crate) struct Ledger {
    versions: Vec<(Option<Life>, Fate)>,
    by_bytes: HashMap<Vec<u8>, Version>,
    marks: Cell<usize>,
}

impl Ledger {
    /// Returns a mark that is not used in any content yet.
    pub(crate) fn mark(&self) -> usize {
        self.marks.set(self.marks.get() + 1);
        self.marks.get()
    }

    /// Records a new version and its owner.
    pub(crate) fn add(&mut self, owner: Life, bytes: &[u8]) -> Version {
        let version = Version(self.versions.len());
        self.versions.push((Some(owner), Fate::Kept));
        self.by_bytes.insert(bytes.to_vec(), version);
        version
    }

    /// Returns the version of some bytes.
    pub(crate) fn version(&self, bytes: &[u8]) -> Option<Version> {
        self.by_bytes.get(bytes).copied()
    }

    /// Returns the version whose bytes have this SHA-256 in hex digits.
    pub(crate) fn version_of(&self, sha256: &str) -> Option<Version> {
        let is_it = |bytes: &[u8]| {
            Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>() == sha256
        };
        self.by_bytes.iter().find(|(bytes, _)| is_it(bytes)).map(|(_, version)| *version)
    }

    /// Records that a version's own system removed it.
    pub(crate) fn retire(&mut self, version: Option<Version>) {
        if let Some((_, fate)) = version.and_then(|version| self.versions.get_mut(version.0)) {
            *fate = Fate::Retired;
        }
    }

    /// Returns the owner of a version: the file's owner when these bytes were written last.
    pub(crate) fn owner(&self, version: Version) -> Option<Life> {
        self.versions.get(version.0)?.0
    }

    /// Records that a version has no owner any more.
    pub(crate) fn disown(&mut self, version: Option<Version>) {
        if let Some((owner, _)) = version.and_then(|version| self.versions.get_mut(version.0)) {
            *owner = None;
        }
    }

    /// Returns the kept versions with a wrong number of copies.
    pub(crate) fn wrong(&self, files: &Files, is_right: impl Fn(usize) -> bool) -> Vec<(Version, usize)> {
        let mut copies = vec![0; self.versions.len()];
        for (_, _, inode) in files.all() {
            if let Some(version) = inode.version {
                copies[version.0] += 1;
            }
        }
        let kept = self.versions.iter().enumerate().filter(|(_, (_, fate))| *fate == Fate::Kept);
        kept.map(|(number, _)| (Version(number), copies[number]))
            .filter(|(_, copies)| !is_right(*copies))
            .collect()
    }
}
