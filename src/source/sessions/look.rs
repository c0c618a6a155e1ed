//! The windows whose session files are wanted, and how those are looked for.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::FileType;

use crate::core::model::{FileMeta, FolderId, ProcessId, SessionFile, Untrusted};
use crate::source::os::fence::Fence;
use crate::source::os::locks::Locks;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::listing::Entry;
use crate::source::places::homes::HomeBase;
use crate::source::sessions::head::Heads;

/// The most names of one folder that are looked at.
pub(crate) const MAX_NAMES: usize = 5_000;

/// A window whose session is asked for.
pub(crate) struct SessionTarget {
    pub(crate) agent: String,
    pub(crate) id: ProcessId,
    /// Its user.
    pub(crate) uid: Option<u32>,
    /// The folder in which it works.
    pub(crate) cwd: Option<Untrusted>,
    pub(crate) started_at: Option<Timestamp>,
    /// The folders of homes that it reaches, if known.
    pub(crate) homes: Option<BTreeSet<FolderId>>,
}

impl SessionTarget {
    /// Returns whether it may keep its sessions below a folder.
    pub(crate) fn may_use(&self, folder: &HomeBase) -> bool {
        let pair = self.homes.as_ref().zip(folder.id);
        pair.is_none_or(|(homes, id)| homes.contains(&id))
    }
}

pub(crate) struct Look<'a> {
    pub(crate) fence: &'a Fence,
    /// The kernel's locks, read on first use.
    pub(crate) locks: OnceCell<Locks>,
    pub(crate) heads: &'a mut Heads,
    pub(crate) found: Vec<SessionFile>,
    /// Whether there was more than could be read.
    pub(crate) is_cut: Cell<bool>,
}

/// Returns every folder that the windows work in, once.
pub(crate) fn folders(wanted: &[&SessionTarget]) -> Vec<Untrusted> {
    let mut folders: Vec<Untrusted> = wanted.iter().filter_map(|one| one.cwd.clone()).collect();
    folders.sort();
    folders.dedup();
    folders
}

impl Look<'_> {
    /// Returns the process that holds a kernel lock on a file.
    pub(crate) fn lock_holder(&self, meta: &FileMeta) -> Option<u32> {
        let locks = self.locks.get_or_init(Locks::read);
        if locks.hides_holder(meta) {
            self.is_cut.set(true);
        }
        locks.holder(meta)
    }

    /// Lists the plain files of a folder whose names fit, the newest first; none if there is no folder or it may not
    /// be read.
    pub(crate) fn files(&self, at: &Path, fits: impl Fn(&str) -> bool) -> Vec<(PathBuf, FileMeta)> {
        let mut files = self.entries(at, FileType::RegularFile, fits);
        files.sort_by_key(|(_, meta)| std::cmp::Reverse(meta.modified_at));
        files
    }

    /// Returns the names of a folder that fit; nothing if there is no folder.
    pub(crate) fn names(&self, at: &Path, fits: impl Fn(&str) -> bool) -> Option<(Folder, Vec<Entry>)> {
        let opened = self.fence.reaches(at).then(|| Folder::open(at));
        if let Some(Err(error)) = &opened
            && error.is_absence()
        {
            return None;
        }
        let names = opened.and_then(Result::ok).and_then(|folder| {
            let names = folder.entries(|name| name.to_str().is_some_and(&fits)).ok()?;
            Some((folder, names))
        });
        let is_whole = names.as_ref().is_some_and(|(_, names)| names.len() <= MAX_NAMES);
        self.is_cut.set(self.is_cut.get() || !is_whole);
        names
    }

    pub(crate) fn entries(
        &self,
        at: &Path,
        wanted: FileType,
        fits: impl Fn(&str) -> bool,
    ) -> Vec<(PathBuf, FileMeta)> {
        let Some((folder, names)) = self.names(at, fits) else { return Vec::new() };
        let looked = names.into_iter().take(MAX_NAMES).filter_map(|entry| {
            let (sort, meta) = folder.look_at(&entry.name)?;
            (sort == wanted).then(|| (at.join(&entry.name), meta))
        });
        looked.collect()
    }
}
