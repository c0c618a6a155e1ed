//! Finds the session files that agents keep of their own windows: names, folders, locks and times,
//! never what was said.

mod codex;
mod copilot;
mod head;
mod opencode;
mod per_folder;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::FileType;

use self::head::Heads;
use super::Places;
use super::copies::Copies;
use super::fence::Fence;
use super::locks::Locks;
use super::open::Folder;
use crate::core::file::FileMeta;
use crate::core::process::ProcessId;
use crate::core::session::SessionFile;
use crate::core::text::Untrusted;

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
}

/// Looks again and again, and remembers how the files that it read begin.
#[derive(Default)]
pub(super) struct Reader {
    copies: Copies,
    heads: Heads,
    opencode: opencode::Store,
}

/// One look.
struct Look<'a> {
    fence: &'a Fence,
    /// The kernel's locks, read when one is asked for first.
    locks: OnceCell<Locks>,
    heads: &'a mut Heads,
    found: Vec<SessionFile>,
}

impl Reader {
    /// Prepares to read; copies go where it is said.
    pub(super) fn new(copies: &Copies) -> Self {
        Self { copies: copies.clone(), ..Self::default() }
    }

    /// Finds what may belong to these windows.
    pub(super) fn read(
        &mut self,
        (places, configs): (&Places, &BTreeSet<PathBuf>),
        fence: &Fence,
        wanted: &[Wanted],
        now: Timestamp,
    ) -> Vec<SessionFile> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let of = |agent: &str| wanted.iter().filter(|one| one.agent == agent).collect::<Vec<_>>();
        let mut look = Look { fence, locks: OnceCell::new(), heads: &mut self.heads, found: Vec::new() };
        for config in std::iter::once(&places.claude_config).chain(configs) {
            per_folder::claude(&mut look, config, &of("claude-code"));
        }
        per_folder::qwen(&mut look, &places.home, &of("qwen"));
        per_folder::gemini(&mut look, &places.home, &of("gemini"));
        codex::read(&mut look, &places.home, &of("codex"), now);
        copilot::read(&mut look, &places.home, &of("copilot"));
        self.opencode.read(&mut look, &places.home, &of("opencode"), now, &self.copies);
        let found = look.found;
        self.heads.keep_used();
        found
    }
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
        self.locks.get_or_init(Locks::read).holder(meta)
    }

    /// Lists the plain files of a folder whose names fit, the newest first; none where there is
    /// no folder or it may not be read.
    fn files(&self, at: &Path, fits: impl Fn(&str) -> bool) -> Vec<(PathBuf, FileMeta)> {
        let mut files = self.entries(at, FileType::RegularFile, fits);
        files.sort_by_key(|(_, meta)| std::cmp::Reverse(meta.modified_at));
        files
    }

    fn entries(&self, at: &Path, wanted: FileType, fits: impl Fn(&str) -> bool) -> Vec<(PathBuf, FileMeta)> {
        if !self.fence.reaches(at) {
            return Vec::new();
        }
        let Ok(folder) = Folder::open(at) else { return Vec::new() };
        let names = folder.entries(|name| name.to_str().is_some_and(&fits)).unwrap_or_default();
        let looked = names.into_iter().take(MAX_NAMES).filter_map(|entry| {
            let (sort, meta) = folder.look_at(&entry.name)?;
            (sort == wanted).then(|| (at.join(&entry.name), meta))
        });
        looked.collect()
    }
}
