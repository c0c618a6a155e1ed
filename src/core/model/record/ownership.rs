//! The owner of a record's file, and what that can prove.

use serde::{Deserialize, Serialize};

use crate::core::model::Medium;

/// Owner and permission bits of a file, and what they can prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// The owner.
    pub uid: u32,
    /// The permission bits (07777).
    pub mode: u16,
    /// The kind of file system the file is on.
    #[serde(default, skip_serializing_if = "Medium::is_local")]
    pub medium: Medium,
}

impl Ownership {
    /// Returns the ownership of a file on a disk of this machine.
    pub fn new(uid: u32, mode: u16) -> Self {
        Self { uid, mode, medium: Medium::Local }
    }
}
