//! A world in memory around the lines of a session, and what is rebuilt in it as short lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bstr::ByteSlice;
use jiff::Timestamp;

use crate::core::model::Untrusted;
use crate::format::agent::bytes::copies::hash_of;
use crate::format::agent::bytes::text::Bytes;
use crate::format::agent::bytes::version::{
    Around, Ask, Bounds, ExactState, FileVersion, Rebuilding, Stream,
};

/// Rebuilds the files of a session.
pub(super) type Rebuild = fn(&[Stream<'_>], Ask<'_>) -> Rebuilding;

/// What lies around a session.
#[derive(Default)]
pub(super) struct World {
    copies: BTreeMap<String, Bytes>,
    before: BTreeMap<PathBuf, Bytes>,
    present: BTreeMap<PathBuf, Bytes>,
    blobs: BTreeMap<(String, PathBuf), Bytes>,
}

impl World {
    /// Adds one of the agent's copies.
    pub(super) fn copy(mut self, name: &str, bytes: &[u8]) -> Self {
        self.copies.insert(name.to_owned(), Arc::new(bytes.to_vec()));
        self
    }

    /// Adds what git has of a file.
    pub(super) fn in_git(mut self, path: &str, bytes: &[u8]) -> Self {
        self.before.insert(path.into(), Arc::new(bytes.to_vec()));
        self
    }

    /// Adds a present file.
    pub(super) fn present(mut self, path: &str, bytes: &[u8]) -> Self {
        self.present.insert(path.into(), Arc::new(bytes.to_vec()));
        self
    }

    /// Adds a file in one of the agent's trees.
    pub(super) fn blob(mut self, tree: &str, path: &str, bytes: &[u8]) -> Self {
        self.blobs.insert((tree.to_owned(), path.into()), Arc::new(bytes.to_vec()));
        self
    }
}

impl Around for World {
    fn copy(&self, name: &str) -> Option<Bytes> {
        self.copies.get(name).cloned()
    }

    fn copies(&self, path: &Path) -> Vec<Bytes> {
        let is_of = |name: &String| name.starts_with(&hash_of(path));
        self.copies.iter().filter(|(name, _)| is_of(name)).map(|(_, bytes)| Arc::clone(bytes)).collect()
    }

    fn before(&self, path: &Path, _at: Option<Timestamp>) -> Option<ExactState> {
        self.before.get(path).cloned().map(ExactState::Bytes)
    }

    fn present(&self, path: &Path) -> Option<ExactState> {
        self.present.get(path).cloned().map(ExactState::Bytes)
    }

    fn blob(&self, tree: &str, path: &Path) -> Option<ExactState> {
        self.blobs.get(&(tree.to_owned(), path.to_path_buf())).cloned().map(ExactState::Bytes)
    }
}

/// Rebuilds the files of one stream of lines.
pub(super) fn version(rebuild: Rebuild, lines: &[String], world: &World) -> Vec<FileVersion> {
    let text = lines.join("\n");
    let streams = [Stream { sub_agent: None, text: text.as_bytes() }];
    rebuild(&streams, Ask { around: world, wanted: None, bounds: Bounds::USUAL }).versions
}

/// Returns a version as a short line: its call, how sure it is, and its bytes.
pub(super) fn shown(version: &FileVersion) -> String {
    let bytes = match &version.bytes {
        Some(bytes) => bytes.to_str_lossy().into_owned(),
        None if version.is_deleted => "gone".to_owned(),
        None => "-".to_owned(),
    };
    format!("{} {} {bytes}", version.call.as_ref().map_or("?", Untrusted::raw), version.sure.word())
}

/// Compares the versions that are rebuilt of one stream of lines.
#[track_caller]
pub(super) fn check_all(rebuild: Rebuild, lines: &[String], world: &World, expected: &[&str]) {
    let all: Vec<String> = version(rebuild, lines, world).iter().map(shown).collect();
    assert_eq!(all, expected);
}
