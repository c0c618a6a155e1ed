//! The size of a folder's content.

use jiff::Timestamp;
use serde::Serialize;

/// The size of a folder's content, as far as it was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FolderSize {
    /// All plain files.
    pub files: SortSize,
    /// The session files among them, without which those sessions could not be resumed.
    pub sessions: SortSize,
    /// The session files that have not been written to for 30 days.
    pub old_sessions: SortSize,
    /// When the oldest file was last written.
    pub oldest: Option<Timestamp>,
    /// Whether there is more than was counted.
    pub is_more: bool,
}

/// How many files, and how much disk space they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SortSize {
    /// How many.
    pub count: u64,
    /// The space they take, in bytes.
    pub bytes: u64,
}
