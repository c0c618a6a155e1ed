//! What a file of a working tree holds at a moment, read once.

use std::path::Path;

use rustix::io::Errno;

use crate::core::model::FileMeta;
use crate::source::os::open::plain::{open_plain, read_at};
use crate::source::repos::objects::{Kind, Name, name_of};

/// What a path was found to hold.
#[derive(Debug)]
pub(crate) enum FileContent {
    /// There is no plain file.
    Absent,
    /// It cannot be read.
    Unread,
    /// It is larger than was asked for.
    Large(FileMeta),
    /// All of it, and its name in git.
    Whole(FileMeta, Vec<u8>, Name),
}

impl FileContent {
    /// Reads a file of at most so many bytes.
    pub(crate) fn read(path: &Path, most: u64) -> Self {
        let (fd, meta) = match open_plain(path) {
            Ok(opened) => opened,
            // A link, a folder or a device in its place (open(2), `O_NOFOLLOW`; `open_plain`).
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::INVAL) => return Self::Absent,
            Err(_) => return Self::Unread,
        };
        let size = usize::try_from(meta.size).ok().filter(|_| meta.size <= most);
        let Some(size) = size else { return Self::Large(meta) };
        match read_at(&fd, 0, size, 1) {
            Ok(bytes) => {
                let name = name_of(Kind::Blob, &bytes);
                Self::Whole(meta, bytes, name)
            }
            Err(_) => Self::Unread,
        }
    }

    /// Returns its content, if it was read.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Whole(_, bytes, _) => Some(bytes),
            Self::Absent | Self::Unread | Self::Large(_) => None,
        }
    }

    /// Returns the name of its content in git, if it was read.
    pub(crate) fn name(&self) -> Option<&Name> {
        match self {
            Self::Whole(_, _, name) => Some(name),
            Self::Absent | Self::Unread | Self::Large(_) => None,
        }
    }
}
