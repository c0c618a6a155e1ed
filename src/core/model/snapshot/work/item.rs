//! Items of work in a database that records who owns each of them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::fixed;
use crate::core::model::{Key, Untrusted, Word};

/// The progress of an item of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// It waits for an owner.
    Open,
    /// It is marked as being worked on.
    InProgress,
    /// No session should work on it any more.
    Finished,
    /// The item does not exist: only sessions name it.
    Absent,
    /// Its table could not be read.
    Unread,
}

/// One item of work, such as a strategic directive or a quick fix of LEO.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkItem {
    /// Its key, as claims name it.
    pub key: Untrusted,
    /// The table that contains it.
    #[serde(deserialize_with = "fixed::word")]
    pub table: Word,
    /// Its status as recorded there.
    pub status: Untrusted,
    /// What the status means.
    pub stage: Stage,
    /// The session that the item itself names as its owner.
    pub owner: Option<Untrusted>,
    /// The sessions whose own rows name the item.
    pub mirrors: Vec<Untrusted>,
    /// The item that this one is a part of.
    pub parent: Option<Untrusted>,
    /// Whether a pull request or a commit came out of it.
    pub has_result: bool,
    /// When the row was last written, if it records that.
    pub changed_at: Option<Timestamp>,
    /// The record that represents the item, if no session's record does.
    pub record: Option<Key>,
}
