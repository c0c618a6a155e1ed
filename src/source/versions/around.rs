//! What lies around a session's file: copies, git, and the present files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::core::model::Format;
use crate::format::agent::bytes::{Around, Bounds, Bytes, ExactState};
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::Folder;
use crate::source::repos::locate::worktree_of;
use crate::source::repos::objects::parse_name;
use crate::source::versions::files::bounded;
use crate::source::versions::session::SessionFiles;
use crate::source::versions::trees::Trees;

/// The most repositories of snapshots that are looked at.
const MOST_SNAPSHOTS: usize = 2_000;

/// The world around one session.
pub(super) struct World<'a> {
    fence: &'a Fence,
    /// The folder of the agent's copies.
    copies: Option<PathBuf>,
    /// The repositories with the agent's trees, and the working tree of each, the deepest first.
    snapshots: Vec<(PathBuf, PathBuf)>,
    trees: Trees<'a>,
}

impl<'a> World<'a> {
    /// Finds where the copies of a session are.
    pub(super) fn new(session: &SessionFiles, fence: &'a Fence) -> Self {
        let snapshots = match session.format {
            Format::OpenCode => session.file.parent().map(|home| snapshots_in(&home.join("snapshot"), fence)),
            _ => None,
        };
        let snapshots = snapshots.unwrap_or_default();
        Self { fence, copies: copies_of(session), snapshots, trees: Trees::new(fence) }
    }
}

/// Returns the folder of the copies that an agent made of the files of a session, by the place of its transcript.
fn copies_of(session: &SessionFiles) -> Option<PathBuf> {
    let id = Path::new(session.session.raw());
    let is_bare = id.components().count() == 1 && id.file_name() == Some(id.as_os_str());
    let above = |levels: usize| session.file.ancestors().nth(levels).map(Path::to_path_buf);
    match session.format {
        // `projects/<slug>/<session>.jsonl`
        Format::ClaudeCode if is_bare => Some(above(3)?.join("file-history").join(id)),
        // `projects/<slug>/chats/<session>.jsonl`
        Format::Qwen if is_bare => Some(above(4)?.join("file-history").join(id)),
        // `<session>/events.jsonl`
        Format::Copilot => Some(above(1)?.join("rewind-file-snapshots/backups")),
        _ => None,
    }
}

/// Finds opencode's repositories: `<project>/<hash of the working tree>`, and formerly `<project>`.
fn snapshots_in(folder: &Path, fence: &Fence) -> Vec<(PathBuf, PathBuf)> {
    let projects = folders(folder);
    let inner = projects.iter().flat_map(|project| folders(project));
    let all = inner.chain(projects.iter().cloned()).take(MOST_SNAPSHOTS).filter(|path| fence.reaches(path));
    let mut found: Vec<(PathBuf, PathBuf)> =
        all.filter_map(|path| Some((worktree_of(&path)?, path))).collect();
    found.sort_by_key(|(tree, _)| std::cmp::Reverse(tree.components().count()));
    found
}

fn folders(at: &Path) -> Vec<PathBuf> {
    let names = Folder::open(at).and_then(|folder| folder.entries(|_| true)).unwrap_or_default();
    names.into_iter().take(MOST_SNAPSHOTS).map(|entry| at.join(entry.name)).collect()
}

impl Around for World<'_> {
    fn copy(&self, name: &str) -> Option<Bytes> {
        let is_bare = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        let path = self.copies.as_ref().filter(|_| is_bare)?.join(name);
        bounded(&path, Bounds::USUAL.file, self.fence).ok().map(Arc::new)
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
