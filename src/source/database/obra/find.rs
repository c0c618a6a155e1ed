//! Finds databases: the named ones, Obra's usual places, and the places in its configurations.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::format::obra::{COMMON, Configuration, SETTINGS, settings};
use crate::source::os::fence::Fence;
use crate::source::os::open::plain::small;

/// The most bytes of a configuration that are read: 256 KiB.
const CONFIGURATION: usize = 256 << 10;

/// The most databases that are read.
const MAX_DATABASES: usize = 64;

/// A place where a database may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its path, every link resolved.
    pub(crate) path: PathBuf,
    /// Whether a person named it, so that its absence is reported.
    pub(crate) is_named: bool,
    /// Whether a configuration says that its agents run on another host.
    pub(crate) is_remote: bool,
}

pub(crate) struct Search<'a> {
    /// The paths that a person named.
    pub(crate) named: &'a [PathBuf],
    /// Which other paths may be read.
    pub(crate) fence: &'a Fence,
}

impl Search<'_> {
    /// Returns every candidate once: the named ones first.
    pub(crate) fn find<'a>(&self, folders: impl IntoIterator<Item = &'a Path>) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut add = |path: &Path, is_named: bool, is_remote: bool| {
            let path = self.fence.resolve(path);
            let is_allowed = is_named || self.fence.allows(&path);
            if is_allowed && found.len() < MAX_DATABASES && !found.iter().any(|other| other.path == path) {
                found.push(Candidate { path, is_named, is_remote });
            }
        };
        self.named.iter().for_each(|path| add(path, true, false));
        let folders: BTreeSet<&Path> = folders.into_iter().collect();
        for folder in folders {
            let configured = self.configured(folder);
            let is_remote = configured.is_remote;
            if let Some(path) = &configured.database {
                add(&folder.join(path), false, is_remote);
            }
            let there = COMMON.iter().map(|below| folder.join(below)).filter(|path| path.is_file());
            there.for_each(|path| add(&path, false, is_remote));
        }
        found
    }

    /// Reads the first configuration of a folder.
    fn configured(&self, folder: &Path) -> Configuration {
        let read = |below: &&str| {
            let path = folder.join(below);
            // Most folders have none, and a `stat` costs less than opening.
            path.symlink_metadata().ok().filter(|meta| meta.is_file())?;
            self.fence.reaches(&path).then(|| small(&path, CONFIGURATION).ok()).flatten()
        };
        let text = SETTINGS.iter().find_map(read);
        text.map(|text| settings(&String::from_utf8_lossy(&text))).unwrap_or_default()
    }
}
