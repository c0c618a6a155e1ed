//! Reads one file of a folder whole, or reports why it cannot.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, Mode, fstat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::core::model::snapshot::file::MAX_BYTES;
use crate::core::model::{Content, FileImage, FileMeta, Medium, Refusal};
use crate::source::os::open::error::errno_text;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::listing::Entry;
use crate::source::os::open::meta::{made_at, meta_of, sort_name};
use crate::source::os::open::plain::{FILE, read_at};

/// The result of one attempt to read a file.
type ReadAttempt = (Option<FileMeta>, Content);

/// Reads one file safely; `None` if it is gone. Its file system is not determined.
///
/// A file that the listing does not call plain is not even opened: opening a FIFO would wake its writer, and opening a
/// device can do anything. A file that it wrongly calls plain is opened in a way that cannot block, and then refused.
pub fn image(folder: &Folder, entry: &Entry) -> Option<FileImage> {
    let (meta, content) = if is_openable(entry.sort) {
        // A file that was just replaced is there again under the same name.
        attempt(folder, &entry.name).or_else(|| attempt(folder, &entry.name))?
    } else {
        unopened(folder, &entry.name, None)?
    };
    let path = folder.path().join(&entry.name).into();
    let made_at =
        meta.filter(FileMeta::is_changed_later).and_then(|meta| made_at(folder, &entry.name, &meta));
    Some(FileImage { path, meta, content, made_at, locked_by: None, medium: Medium::Unknown })
}

fn is_openable(sort: FileType) -> bool {
    match sort {
        FileType::RegularFile | FileType::Unknown => true,
        FileType::Directory
        | FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice => false,
    }
}

/// Opens and reads once; `None` when the name is gone or its file was removed meanwhile.
fn attempt(folder: &Folder, name: &OsStr) -> Option<ReadAttempt> {
    let fd = match openat(folder, name, FILE, Mode::empty()) {
        Ok(fd) => fd,
        Err(error) => return unopened(folder, name, Some(error)),
    };
    let stat = match fstat(&fd) {
        Ok(stat) => stat,
        Err(error) => return Some((None, Content::Failed(errno_text(error)))),
    };
    let meta = meta_of(&stat);
    if meta.links == 0 {
        return None;
    }
    Some(match refusal(FileType::from_raw_mode(stat.st_mode), &meta) {
        Some(refusal) => (Some(meta), Content::Refused(refusal)),
        None => read_whole(&fd, meta),
    })
}

/// Describes a file that was not opened; `error` is why, if opening was tried.
fn unopened(folder: &Folder, name: &OsStr, error: Option<Errno>) -> Option<ReadAttempt> {
    if error == Some(Errno::NOENT) {
        return None;
    }
    let (sort, meta) = folder.look_at(name)?;
    let content = match (refusal(sort, &meta), error) {
        (Some(refusal), _) => Content::Refused(refusal),
        (None, Some(error)) => Content::Failed(errno_text(error)),
        // It was not a plain file when it was listed, and is one now: the next look reads it.
        (None, None) => return attempt(folder, name),
    };
    Some((Some(meta), content))
}

/// Decides whether a file is refused. Root's files are read: a user who could forge them could do anything.
fn refusal(sort: FileType, meta: &FileMeta) -> Option<Refusal> {
    let owner = meta.ownership.uid;
    if sort != FileType::RegularFile {
        Some(Refusal::Special(sort_name(sort)))
    } else if owner != 0 && owner != geteuid().as_raw() {
        Some(Refusal::ForeignOwner(owner))
    } else if meta.links != 1 {
        Some(Refusal::Linked(meta.links))
    } else if meta.size > MAX_BYTES {
        Some(Refusal::TooBig(meta.size))
    } else {
        None
    }
}

/// Reads an open file; once more if it changed meanwhile, and then takes the content as it is.
fn read_whole(fd: &OwnedFd, mut meta: FileMeta) -> ReadAttempt {
    let mut tries_left = 1;
    loop {
        let size = usize::try_from(meta.size).unwrap_or(usize::MAX);
        // One more byte shows that it has grown.
        let bytes = match read_at(fd, 0, size, 1) {
            Ok(bytes) => bytes,
            Err(error) => return (Some(meta), Content::Failed(errno_text(error))),
        };
        let after = fstat(fd).map_or(meta, |stat| meta_of(&stat));
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let has_changed = after != meta || length != after.size;
        meta = after;
        if length > MAX_BYTES {
            return (Some(meta), Content::Refused(Refusal::TooBig(length.max(meta.size))));
        }
        if !has_changed || tries_left == 0 {
            return (Some(meta), Content::Bytes(bytes));
        }
        tries_left -= 1;
    }
}
