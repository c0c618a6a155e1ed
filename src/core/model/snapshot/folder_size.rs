//! How much lies in a folder.

use jiff::Timestamp;
use serde::Serialize;

/// How much lies in a folder, as far as it was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FolderSize {
    /// All plain files.
    pub files: SortSize,
    /// Those of them that are sessions, which could not be resumed without them.
    pub sessions: SortSize,
    /// Those of the sessions that nobody has written to for 30 days.
    pub old_sessions: SortSize,
    /// When the oldest file was last written.
    pub oldest: Option<Timestamp>,
    /// Whether there is more than was counted.
    pub is_more: bool,
}

/// How many files, and how much they take on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SortSize {
    /// How many.
    pub count: u64,
    /// What they take, in bytes.
    pub bytes: u64,
}
