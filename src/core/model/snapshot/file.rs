//! One file as it was found: its metadata and, if it was safe to read, its bytes.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::core::model::{FilePath, Medium, Ownership};

/// A file as one safe look found it.
#[derive(Clone, Debug, PartialEq)]
pub struct FileImage {
    /// Where it is.
    pub path: FilePath,
    /// The result of `fstat`; `None` if even that failed.
    pub meta: Option<FileMeta>,
    /// The bytes, or why there are none.
    pub content: Content,
    /// When this file was made, if its file system records that; read only if its inode changed well after its last
    /// write. No process can set it.
    pub made_at: Option<Timestamp>,
    /// The PID that holds a kernel lock on it (`/proc/locks`), if any; 0 if the holder is unknown.
    pub locked_by: Option<u32>,
    /// The kind of file system it is on.
    pub medium: Medium,
}

impl FileImage {
    /// Returns its owner and the kind of file system it is on. If it was changed after its last write, the owner may
    /// have changed too, for example because a mount maps owners.
    pub(crate) fn ownership(&self) -> Ownership {
        let known = self.meta.map_or_else(Ownership::default, |meta| meta.ownership);
        let may_be_given = self.meta.is_some_and(|meta| meta.may_have_been_given());
        let medium = if self.medium == Medium::Local && may_be_given { Medium::Mapped } else { self.medium };
        Ownership { medium, ..known }
    }

    /// Returns its name inside its folder, lossless if it is UTF-8.
    pub fn name(&self) -> &str {
        let path = self.path.text().raw();
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// The result of `fstat` for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMeta {
    /// The device.
    pub dev: u64,
    /// The inode.
    pub ino: u64,
    /// Owner and permission bits.
    pub ownership: Ownership,
    /// The number of hard links.
    pub links: u64,
    /// The size in bytes.
    pub size: u64,
    /// The last change of the content.
    pub modified_at: Timestamp,
    /// The last change of content or inode; unlike `modified_at` it cannot be set back.
    pub changed_at: Timestamp,
}

/// How long after its last write the writer may still rename a file and set its mode: 100 ms. If that takes longer, or
/// the clock was set back since, the owner proves nothing, which only leaves more unknown.
const FINISHED_WITHIN: SignedDuration = SignedDuration::from_millis(100);

impl FileMeta {
    /// Returns whether the file may have been given to another owner since it was last written
    /// (chown(2) sets the time of change alone).
    fn may_have_been_given(&self) -> bool {
        self.changed_at.duration_since(self.modified_at).abs() > FINISHED_WITHIN
    }

    /// Returns whether its inode was changed well after its last write, by a time shorter than the tolerance for clock
    /// differences. A process that writes a file and renames it does both within that time.
    pub(crate) fn is_changed_later(&self) -> bool {
        self.changed_at.duration_since(self.modified_at) >= SignedDuration::from_secs(1)
    }

    /// Returns the time of its last change of any kind.
    pub(crate) fn touched_at(&self) -> Timestamp {
        self.modified_at.max(self.changed_at)
    }
}

/// The bytes of a file, or why there are none.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// It was read completely.
    Bytes(Vec<u8>),
    /// It was deliberately not read.
    Refused(Refusal),
    /// Reading failed; the operating system's error message.
    Failed(String),
}

/// Why a file was deliberately not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not a regular file: `symlink`, `fifo`, `directory`, `socket`, `device`.
    Special(&'static str),
    /// Larger than [`MAX_BYTES`]: this many bytes.
    TooBig(u64),
    /// It has this many hard links.
    Linked(u64),
    /// It belongs to this user.
    ForeignOwner(u32),
}

/// The most bytes that a session file may have: 1 MiB.
pub const MAX_BYTES: u64 = 1 << 20;

/// How long a file must have been untouched before it counts as corrupt instead of torn: 1 s.
pub(crate) const SETTLED_AFTER_MS: i64 = 1_000;

/// The identity of a folder, whatever its path: device and inode (stat(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FolderId {
    /// The device.
    #[serde(rename = "device")]
    pub dev: u64,
    /// The inode.
    #[serde(rename = "inode")]
    pub ino: u64,
}
