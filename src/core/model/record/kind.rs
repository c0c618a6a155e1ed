//! The purpose of a record, and whether its form is the present one.

use serde::{Deserialize, Serialize};

/// Whether a record has its system's present form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// As the newest code of that system writes it.
    Current,
    /// In a place or form that only older code wrote.
    Legacy,
}

/// The purpose of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordKind {
    /// It describes a session of one window.
    Session,
    /// It ties a session ID to a process (a marker, a live registry).
    Marker,
    /// It points at a session ID without naming a process.
    Pointer,
    /// A liveness daemon's record.
    Tick,
    /// A lock.
    Lock,
    /// It belongs to a session record and has no life of its own.
    Companion,
    /// Names, colours and other facts about a session or a worktree.
    Metadata,
    /// The remains of an interrupted write.
    Temporary,
}
