//! What lies around a session's file: copies, git, and the present files.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::core::model::Format;
use crate::format::agent::bytes::copies::hash_of;
use crate::format::agent::bytes::{Around, Bounds, Bytes, ExactState};
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::Folder;
use crate::source::repos::locate::core_setting;
use crate::source::repos::objects::parse_name;
use crate::source::versions::files::bounded;
use crate::source::versions::session::SessionFiles;
use crate::source::versions::trees::Trees;

/// The most copies that are listed.
const MOST_COPIES: usize = 500_000;
/// The most names of one folder that are looked at.
const MOST_NAMES: usize = 2_000;

/// The world around one session.
pub(super) struct World<'a> {
    fence: &'a Fence,
    /// The folder of the agent's copies.
    copies: Option<PathBuf>,
    /// The repositories with the agent's trees, and the working tree of each, the deepest first.
    snapshots: Vec<(PathBuf, PathBuf)>,
    /// Whether copies are named by the hashes of their files' paths.
    is_hashed: bool,
    /// The copies of all sessions, by these hashes.
    index: OnceCell<HashMap<String, Vec<PathBuf>>>,
    trees: Trees<'a>,
}

impl<'a> World<'a> {
    /// Finds where the copies of a session are.
    pub(super) fn new(session: &SessionFiles, fence: &'a Fence) -> Self {
        let home = session.file.parent().filter(|_| session.format == Format::OpenCode);
        let snapshots = home.map(|home| snapshots_in(&home.join("snapshot"), fence)).unwrap_or_default();
        Self {
            fence,
            copies: copies_of(session),
            snapshots,
            is_hashed: matches!(session.format, Format::ClaudeCode | Format::Qwen),
            index: OnceCell::new(),
            trees: Trees::new(fence),
        }
    }
}

/// Returns the folder of the copies that an agent made of the files of a session, by the place of its transcript.
pub(super) fn copies_of(session: &SessionFiles) -> Option<PathBuf> {
    let id = Path::new(session.session.raw());
    let is_bare = id.components().count() == 1 && id.file_name() == Some(id.as_os_str());
    // `projects/<slug>/<session>.jsonl`, `projects/<slug>/chats/<session>.jsonl`, `<session>/events.jsonl`
    let levels = [(Format::ClaudeCode, 3), (Format::Qwen, 4), (Format::Copilot, 1)];
    let (format, levels) = levels.into_iter().find(|(format, _)| *format == session.format)?;
    let above = session.file.ancestors().nth(levels)?;
    if format == Format::Copilot {
        return Some(above.join("rewind-file-snapshots/backups"));
    }
    is_bare.then(|| above.join("file-history").join(id))
}

/// Finds opencode's repositories: `<project>/<hash of the working tree>`, and formerly `<project>`.
fn snapshots_in(folder: &Path, fence: &Fence) -> Vec<(PathBuf, PathBuf)> {
    let tree_of =
        |git: &Path| core_setting(git, "worktree").map(PathBuf::from).filter(|tree| tree.is_absolute());
    let projects = names_in(folder);
    let inner = projects.iter().flat_map(|project| names_in(project));
    let all = inner.chain(projects.iter().cloned()).take(MOST_NAMES).filter(|path| fence.reaches(path));
    let mut found: Vec<(PathBuf, PathBuf)> = all.filter_map(|path| Some((tree_of(&path)?, path))).collect();
    found.sort_by_key(|(tree, _)| std::cmp::Reverse(tree.components().count()));
    found
}

/// Lists the copies of all sessions by the hashes in their names.
fn index_of(all: &Path) -> HashMap<String, Vec<PathBuf>> {
    let mut index: HashMap<String, Vec<PathBuf>> = HashMap::new();
    for file in names_in(all).iter().flat_map(|session| names_in(session)).take(MOST_COPIES) {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some((hash, _)) = name.split_once("@v") {
            index.entry(hash.to_owned()).or_default().push(file);
        }
    }
    index
}

/// Returns the paths in a folder.
fn names_in(at: &Path) -> Vec<PathBuf> {
    let names = Folder::open(at).and_then(|folder| folder.entries(|_| true)).unwrap_or_default();
    names.into_iter().take(MOST_NAMES).map(|entry| at.join(entry.name)).collect()
}

impl Around for World<'_> {
    fn copy(&self, name: &str) -> Option<Bytes> {
        let is_bare = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        let path = self.copies.as_ref().filter(|_| is_bare)?.join(name);
        bounded(&path, Bounds::USUAL.file, self.fence).ok().map(Arc::new)
    }

    fn copies(&self, path: &Path) -> Vec<Bytes> {
        let Some(all) = self.copies.as_deref().and_then(Path::parent).filter(|_| self.is_hashed) else {
            return Vec::new();
        };
        let index = self.index.get_or_init(|| index_of(all));
        let files = index.get(&hash_of(path)).into_iter().flatten();
        let read = |file: &PathBuf| bounded(file, Bounds::USUAL.file, self.fence).ok();
        files.filter_map(read).map(Arc::new).collect()
    }

    fn before(&self, path: &Path, at: Option<Timestamp>) -> Option<ExactState> {
        self.trees.in_git(path, at)
    }

    fn present(&self, path: &Path) -> Option<ExactState> {
        match bounded(path, Bounds::USUAL.file, self.fence) {
            Ok(bytes) => Some(ExactState::Bytes(Arc::new(bytes))),
            Err(Errno::NOENT) => Some(ExactState::Absent),
            Err(_) => None,
        }
    }

    fn blob(&self, tree: &str, path: &Path) -> Option<ExactState> {
        let name = parse_name(tree.as_bytes())?;
        let inside = self.snapshots.iter().filter_map(|(top, git)| Some((git, path.strip_prefix(top).ok()?)));
        inside.into_iter().find_map(|(git, path)| self.trees.file(&git.join("objects"), name, path))
    }
}
