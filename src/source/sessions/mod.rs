//! Finds the session files that agents keep of their own windows: names, folders, locks and times,
//! never what was said.

mod codex;
mod copilot;
mod head;
mod opencode;
mod per_folder;
mod sole;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::FileType;

use self::head::Heads;
use super::copies::Copies;
use super::fence::Fence;
use super::homes::{HomeBase, Homes};
use super::locks::Locks;
use super::open::{Entry, Folder};
use crate::core::file::FileMeta;
use crate::core::home::FolderId;
use crate::core::process::ProcessId;
use crate::core::session::SessionFile;
use crate::core::text::Untrusted;
use crate::format::Base;

/// The most names of one folder that are looked at.
const MAX_NAMES: usize = 5_000;

/// A window whose session is asked for.
pub(super) struct Wanted {
    /// Which agent.
    pub(super) agent: String,
    /// Its process.
    pub(super) id: ProcessId,
    /// Where it works.
    pub(super) cwd: Option<Untrusted>,
    /// When it started.
    pub(super) started_at: Option<Timestamp>,
    /// The folders of homes that it reaches, where that is known.
    pub(super) homes: Option<BTreeSet<FolderId>>,
}

impl Wanted {
    /// Returns whether it may keep its sessions below a folder.
    fn may_use(&self, folder: &HomeBase) -> bool {
        let pair = self.homes.as_ref().zip(folder.id);
        pair.is_none_or(|(homes, id)| homes.contains(&id))
    }
}

/// Looks again and again, and remembers how the files that it read begin.
#[derive(Default)]
pub(super) struct Reader {
    copies: Copies,
    heads: Heads,
    /// The databases of opencode, by home.
    opencode: BTreeMap<PathBuf, opencode::Store>,
}

/// One look.
struct Look<'a> {
    fence: &'a Fence,
    /// The kernel's locks, read when one is asked for first.
    locks: OnceCell<Locks>,
    heads: &'a mut Heads,
    found: Vec<SessionFile>,
    /// Whether there was more than could be read.
    is_cut: Cell<bool>,
}

impl Reader {
    /// Prepares to read; copies go where it is said.
    pub(super) fn new(copies: &Copies) -> Self {
        Self { copies: copies.clone(), ..Self::default() }
    }

    /// Finds what may belong to these windows, in the homes that they may use.
    pub(super) fn read(
        &mut self,
        homes: &Homes,
        fence: &Fence,
        wanted: &[Wanted],
        now: Timestamp,
    ) -> Vec<SessionFile> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut look = Look {
            fence,
            locks: OnceCell::new(),
            heads: &mut self.heads,
            found: Vec::new(),
            is_cut: Cell::new(false),
        };
        for config in homes.of(Base::ClaudeConfig) {
            per_folder::claude(&mut look, &config.path, &of("claude-code", config, wanted));
        }
        let mut before = std::mem::take(&mut self.opencode);
        for folder in homes.of(Base::Home) {
            let (home, of) = (&folder.path, |agent| of(agent, folder, wanted));
            per_folder::qwen(&mut look, home, &of("qwen"));
            per_folder::gemini(&mut look, home, &of("gemini"));
            sole::noted(&mut look, |look| codex::read(look, home, &of("codex"), now));
            sole::noted(&mut look, |look| copilot::read(look, home, &of("copilot")));
            let mut store = before.remove(home).unwrap_or_default();
            store.read(&mut look, home, &of("opencode"), now, &self.copies);
            self.opencode.insert(home.clone(), store);
        }
        let found = look.found;
        self.heads.keep_used();
        found
    }
}

/// Returns the windows of an agent that may keep their sessions below a folder.
fn of<'a>(agent: &str, folder: &HomeBase, wanted: &'a [Wanted]) -> Vec<&'a Wanted> {
    wanted.iter().filter(|one| one.agent == agent && one.may_use(folder)).collect()
}

/// Returns every folder that the windows work in, once.
fn folders(wanted: &[&Wanted]) -> Vec<Untrusted> {
    let mut folders: Vec<Untrusted> = wanted.iter().filter_map(|one| one.cwd.clone()).collect();
    folders.sort();
    folders.dedup();
    folders
}

impl Look<'_> {
    /// Returns who holds a kernel lock on a file.
    fn lock_holder(&self, meta: &FileMeta) -> Option<u32> {
        let locks = self.locks.get_or_init(Locks::read);
        if locks.hides_holder(meta) {
            self.is_cut.set(true);
        }
        locks.holder(meta)
    }

    /// Lists the plain files of a folder whose names fit, the newest first; none where there is
    /// no folder or it may not be read.
    fn files(&self, at: &Path, fits: impl Fn(&str) -> bool) -> Vec<(PathBuf, FileMeta)> {
        let mut files = self.entries(at, FileType::RegularFile, fits);
        files.sort_by_key(|(_, meta)| std::cmp::Reverse(meta.modified_at));
        files
    }

    /// Returns the names of a folder that fit; nothing where there is no folder.
    fn names(&self, at: &Path, fits: impl Fn(&str) -> bool) -> Option<(Folder, Vec<Entry>)> {
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

    fn entries(&self, at: &Path, wanted: FileType, fits: impl Fn(&str) -> bool) -> Vec<(PathBuf, FileMeta)> {
        let Some((folder, names)) = self.names(at, fits) else { return Vec::new() };
        let looked = names.into_iter().take(MAX_NAMES).filter_map(|entry| {
            let (sort, meta) = folder.look_at(&entry.name)?;
            (sort == wanted).then(|| (at.join(&entry.name), meta))
        });
        looked.collect()
    }
}
