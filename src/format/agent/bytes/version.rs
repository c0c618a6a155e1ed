//! What is rebuilt, what is asked of the world around a session's file, and the bounds of both.

use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

use crate::core::model::{Sureness, Untrusted};
use crate::format::agent::bytes::text::Bytes;

/// The most bytes of a path (`PATH_MAX`).
const MOST_PATH: usize = 4_096;

/// A file as a session's tool left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// Its absolute path as the agent gave it, links and all.
    pub path: PathBuf,
    /// When the tool's result was written down.
    pub at: Option<Timestamp>,
    /// The ID of the call.
    pub call: Option<Untrusted>,
    /// The sub-agent whose tool it was.
    pub sub_agent: Option<Untrusted>,
    /// The bytes. None if the tool deleted the file, or if they are not known: then `sure` says what is missing.
    pub bytes: Option<Bytes>,
    /// How sure that is.
    pub sure: Sureness,
    /// The bytes that the tool began from, as far as known: the base of a merge.
    pub began_from: Option<Bytes>,
    /// Whether the tool deleted the file.
    pub is_deleted: bool,
}

/// What a session's files gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilding {
    /// All versions of all files, in the order in which they were written.
    pub versions: Vec<FileVersion>,
    /// How many lines, paths and steps were left out because they could not be understood or exceed a bound.
    pub left_out: u64,
    /// How many of these are parts of the session's files that exceed a bound.
    pub too_long: u64,
}

/// The bounds of what is read and kept; a file can have been written by anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The longest line that is read, in bytes. Lines of 8 MB were seen.
    pub line: usize,
    /// The largest content of a file that is rebuilt, in bytes.
    pub file: usize,
    /// How much content is kept of all versions, in bytes; that of the oldest is dropped first.
    pub kept: usize,
    /// How much content is made in all, in bytes, also of versions that are not kept.
    pub made: usize,
    /// The most steps that are followed, the newest.
    pub steps: usize,
}

impl Bounds {
    /// The usual bounds.
    pub const USUAL: Self =
        Self { line: 64 << 20, file: 32 << 20, kept: 512 << 20, made: 16 << 30, steps: 100_000 };
}

/// A state of a file that is known exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExactState {
    /// There is no such file.
    Absent,
    /// It has these bytes.
    Bytes(Bytes),
}

/// What lies outside of a session's file; `None` always means that it is not known.
pub(crate) trait Around {
    /// Returns one of the agent's own copies, by its bare name.
    fn copy(&self, name: &str) -> Option<Bytes>;

    /// Returns all copies of a file that the agent has kept, of any session and at any time.
    fn copies(&self, path: &Path) -> Vec<Bytes>;

    /// Returns what git had of a file at a moment.
    fn before(&self, path: &Path, at: Option<Timestamp>) -> Option<ExactState>;

    /// Returns a file as it is now.
    fn present(&self, path: &Path) -> Option<ExactState>;

    /// Returns a file in one of the agent's own trees.
    fn blob(&self, tree: &str, path: &Path) -> Option<ExactState>;
}

/// One file of a session: its own, or that of a sub-agent.
#[derive(Clone, Debug)]
pub(crate) struct Stream<'a> {
    /// The sub-agent.
    pub(crate) sub_agent: Option<Untrusted>,
    /// All of its lines.
    pub(crate) text: &'a [u8],
}

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) around: &'a dyn Around,
    /// The files that are wanted; without them, all.
    pub(crate) wanted: Option<&'a [PathBuf]>,
    pub(crate) bounds: Bounds,
}

impl Ask<'_> {
    /// Returns whether a file is wanted.
    pub(crate) fn wants(&self, path: &Path) -> bool {
        self.wanted.is_none_or(|wanted| wanted.iter().any(|one| one == path))
    }
}

/// Returns the absolute path of a file that an agent names; `None` if it is not sure which one that is.
pub(crate) fn placed(path: &str, folder: Option<&str>) -> Option<PathBuf> {
    let path = Path::new(path);
    let all = match folder {
        Some(folder) if !path.is_absolute() => Path::new(folder).join(path),
        Some(_) | None => path.to_path_buf(),
    };
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    let is_bounded = (2..MOST_PATH).contains(&all.as_os_str().len());
    let has_nul = all.as_os_str().as_encoded_bytes().contains(&0);
    // Parts of `.` and doubled slashes are not among the components.
    let is_sure = all.is_absolute() && all.file_name().is_some() && all.components().all(is_plain);
    (is_bounded && !has_nul && is_sure).then(|| all.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, folder: Option<&str>, expected: Option<&str>) {
        assert_eq!(placed(path, folder), expected.map(PathBuf::from), "{path}");
    }

    #[test]
    fn a_path_is_absolute_or_it_is_none() {
        check("/src/a.rs", None, Some("/src/a.rs"));
        check("a/b.rs", Some("/src"), Some("/src/a/b.rs"));
        check("/src//./a.rs", Some("/other"), Some("/src/a.rs"));
        check("a.rs", None, None);
        check("a.rs", Some("src"), None);
        check("../a.rs", Some("/src"), None);
        check("/src/../etc/passwd", None, None);
        check("/src/a\0.rs", None, None);
        check("/", None, None);
        check("", Some("/src"), Some("/src"));
        check(&format!("/{}", "a".repeat(MOST_PATH)), None, None);
    }
}
