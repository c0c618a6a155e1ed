//! The folders that formats keep their files in.

use crate::core::model::{DescribedFormat, FileImage, Format};
use crate::format::reading::{FileContents, Reading};

/// A folder that formats keep their files in; the collector knows where each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The temporary folder.
    Tmp,
    /// The home.
    Home,
    /// Claude Code's configuration folder (`$CLAUDE_CONFIG_DIR`, else `~/.claude`).
    ClaudeConfig,
    /// The cache folder (`$XDG_CACHE_HOME`, else `~/.cache`).
    Cache,
    /// The git common directory of each repository.
    GitCommon,
    /// Every working tree of each repository.
    Worktree,
}

/// One folder to list, and which of its files matter.
#[derive(Debug)]
pub struct Place {
    /// The system that keeps files there.
    pub(crate) format: Format,
    /// The folder that `dir` starts from.
    pub base: Base,
    /// The folder below `base`; empty for `base` itself; a part may be `*`.
    pub dir: &'static str,
    /// Returns whether a file of this name is the system's.
    pub recognise: fn(name: &str) -> bool,
    /// Reads one of its files: total, for any bytes.
    pub(crate) read: fn(file: &FileImage, reading: &Reading<'_>) -> FileContents,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.format == other.format && self.base == other.base && self.dir == other.dir
    }
}

impl Eq for Place {}

/// States a place: its system, its folder, the kind of a file by its name, and how that is read.
macro_rules! place {
    ($format:ident, $base:ident, $dir:literal, $kind:path => $read:path) => {
        $crate::format::reading::place::Place {
            format: $crate::core::model::Format::$format,
            base: $crate::format::reading::place::Base::$base,
            dir: $dir,
            recognise: |name| $kind(name).is_some(),
            read: |file, reading| match $kind(file.name()) {
                Some(kind) => $read(kind, file, reading),
                None => $crate::format::reading::FileContents::Ignored,
            },
        }
    };
}
pub(crate) use place;

/// The way in which a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One of a known format, by its place.
    Known(&'static Place),
    /// One of a format that a person has described.
    Described(DescribedFormat),
}
