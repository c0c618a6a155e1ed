//! A folder as the kernel names it.

use serde::{Deserialize, Serialize};

/// What makes two paths the same folder: device and inode (stat(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FolderId {
    /// The device.
    #[serde(rename = "device")]
    pub dev: u64,
    /// The inode.
    #[serde(rename = "inode")]
    pub ino: u64,
}
