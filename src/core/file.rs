//! One file as it was found: its facts and, where it was safe to read, its bytes.

use std::path::PathBuf;

use jiff::Timestamp;

use super::record::Ownership;

/// A file as one safe look found it.
#[derive(Clone, Debug, PartialEq)]
pub struct FileImage {
    /// Where it is.
    pub path: PathBuf,
    /// Its name inside its folder, lossless where it is UTF-8.
    pub name: String,
    /// What `fstat` said; `None` when not even that was possible.
    pub meta: Option<FileMeta>,
    /// The bytes, or why there are none.
    pub content: Content,
    /// The PID that holds a kernel lock on it (`/proc/locks`), if any.
    pub locked_by: Option<u32>,
}

/// What `fstat` says of a file.
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
    /// The last change of content or inode; unlike `modified_at` nobody can set it back.
    pub changed_at: Timestamp,
}

/// The bytes of a file, or why there are none.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// It was read whole.
    Bytes(Vec<u8>),
    /// It was deliberately not read.
    Refused(Refusal),
    /// Reading failed; the operating system's own words.
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

/// How long a file must have been untouched before it is called corrupt and not torn: 1 s.
pub const SETTLED_AFTER_MS: i64 = 1_000;
