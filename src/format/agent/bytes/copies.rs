//! The copies that Claude Code and Qwen Code make of files before a session's first edit and at each later prompt.
//!
//! Measured with 2.1.332 and 0.24.4. A copy is named by the first 16 digits of the SHA-256 of the path as given, and a
//! number. No name means that there was no file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::core::model::text::hex;
use crate::format::agent::bytes::replay::Replay;
use crate::format::agent::bytes::text::Bytes;
use crate::format::agent::bytes::version::{Ask, ExactState, placed};

/// How many digits of a hash name a copy.
const DIGITS: usize = 16;

/// A copy, or that there was no file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Backup {
    backup_file_name: Option<String>,
    version: Option<u64>,
    real_parent_dir: Option<String>,
}

/// The copies of a session while it is replayed.
pub(crate) struct Copies<'a> {
    ask: Ask<'a>,
    /// The files that its tools wrote.
    paths: HashSet<PathBuf>,
    /// The folder in which it began: keys are relative to it.
    folder: Option<String>,
    /// The copies that were used: later lines repeat them.
    used: HashSet<(PathBuf, Option<String>, Option<u64>)>,
    /// The files of which one was used.
    known: HashSet<PathBuf>,
}

impl<'a> Copies<'a> {
    /// Begins with none.
    pub(crate) fn new(ask: Ask<'a>, folder: Option<String>, paths: HashSet<PathBuf>) -> Self {
        Self { ask, paths, folder, used: HashSet::new(), known: HashSet::new() }
    }

    /// A line says that a file was copied.
    pub(crate) fn copied(&mut self, key: &str, backup: &Backup, replay: &mut Replay<'_>) {
        let Some(path) = self.path(key, backup) else { return };
        let name = &backup.backup_file_name;
        if !self.used.insert((path.clone(), name.clone(), backup.version)) {
            return;
        }
        self.known.insert(path.clone());
        let exact = match name {
            None => ExactState::Absent,
            Some(name) => match self.bytes(name) {
                Some(bytes) => ExactState::Bytes(bytes),
                None => return,
            },
        };
        // The line of the first copy follows that of the call before which it was made.
        if backup.version != Some(1) || !replay.begins(&path, &exact) {
            replay.observe(&path, exact);
        }
    }

    /// Takes the first copy of a file of which no line speaks: the agent was killed before it wrote one.
    pub(crate) fn first(&mut self, path: &Path, replay: &mut Replay<'_>) {
        let name = format!("{}@v1", hash_of(path));
        if self.known.insert(path.to_path_buf())
            && let Some(first) = self.bytes(&name)
        {
            self.used.insert((path.to_path_buf(), Some(name), Some(1)));
            replay.observe(path, ExactState::Bytes(first));
        }
    }

    /// Returns the file of a copy.
    fn path(&self, key: &str, backup: &Backup) -> Option<PathBuf> {
        let by_key = placed(key, self.folder.as_deref());
        let name = Path::new(key).file_name().and_then(|name| name.to_str())?;
        let by_folder = placed(name, backup.real_parent_dir.as_deref());
        let both = || by_key.iter().chain(&by_folder).filter(|path| self.paths.contains(*path));
        let hash = backup.backup_file_name.as_deref().and_then(|name| name.split('@').next());
        let is_named = |path: &&PathBuf| hash.is_some_and(|hash| hash == hash_of(path));
        both().find(is_named).or_else(|| both().next()).cloned()
    }

    /// Reads a copy if its name is one of a copy.
    fn bytes(&self, name: &str) -> Option<Bytes> {
        let (hash, version) = name.split_once("@v")?;
        let is_hash = hash.len() == DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_version =
            (1..=9).contains(&version.len()) && version.bytes().all(|byte| byte.is_ascii_digit());
        if is_hash && is_version { self.ask.around.copy(name) } else { None }
    }
}

/// Returns the hash of a path in the names of its copies.
pub(crate) fn hash_of(path: &Path) -> String {
    let mut digits = hex(&Sha256::digest(path.as_os_str().as_encoded_bytes()));
    digits.truncate(DIGITS);
    digits
}
