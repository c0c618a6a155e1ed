//! Items of work in a database that says for each of them who owns it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::fixed;
use crate::core::model::{Key, Untrusted, Word};

/// How far an item of work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// It waits for somebody.
    Open,
    /// Somebody is said to work on it.
    InProgress,
    /// Nobody should work on it any more.
    Finished,
    /// There is no such item: only sessions name it.
    Absent,
    /// Its table could not be read.
    Unread,
}

/// One item of work, such as a strategic directive or a quick fix of LEO.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkItem {
    /// Its key, as claims name it.
    pub key: Untrusted,
    /// The table that it stands in.
    #[serde(deserialize_with = "fixed::word")]
    pub table: Word,
    /// Its status as it stands there.
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
    /// When the row was last written, if it tells.
    pub changed_at: Option<Timestamp>,
    /// The record that stands for the item, where no session's does.
    pub record: Option<Key>,
}
