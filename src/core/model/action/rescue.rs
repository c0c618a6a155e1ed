//! What a person asks for when files are brought back.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::core::model::{FilePath, Key, Untrusted};

/// Which files are brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RescueTarget {
    /// All that this window has lost.
    By(Key),
    /// These versions, one for each file.
    Files(Vec<RescueFile>),
}

/// Where a version goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RescueWay {
    /// In the file's place, if that is empty or as the last commit has it.
    #[default]
    Place,
    /// Beside the file, under a name of its own.
    Beside,
    /// Into the file, merged with what is there.
    Merge,
}

/// A kept version that is put back in its file's place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RescueFile {
    /// The file.
    pub path: FilePath,
    /// The top of its working tree, or the folder that lies in none: what is kept of it has the content.
    pub tree: Untrusted,
    /// Git's whole name for the content.
    pub blob: Untrusted,
    /// In bytes.
    pub size: u64,
    /// The permission bits, if they are known.
    pub mode: Option<u32>,
    /// Whose it is, for people.
    pub whose: Untrusted,
    /// The content, if that was rebuilt and is not kept.
    #[serde(skip)]
    pub content: Option<Arc<Vec<u8>>>,
    /// What the first of the lost edits began from, if that is known: the base of a merge.
    #[serde(skip)]
    pub base: Option<Arc<Vec<u8>>>,
}

impl RescueFile {
    /// Names a file in a working tree; which version it is must be added.
    pub(crate) fn new(path: FilePath, tree: Untrusted, whose: Untrusted) -> Self {
        let blob = Untrusted::default();
        Self { path, tree, blob, size: 0, mode: None, whose, content: None, base: None }
    }
}
