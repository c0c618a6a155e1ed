//! What is known of one edit, and what its fate was determined by.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::FileMeta;
use crate::source::os::open::plain::{open_plain, read_at};
use crate::source::repos::objects::{Name, Short};

/// The largest text that is remembered of what an edit left, in bytes.
pub(super) const MOST_TEXT: usize = 64 << 10;

/// The recorded facts of an edit, beside its moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EditFacts {
    /// The commit that was certainly checked out before it.
    pub(crate) upon: Option<Name>,
    /// What the file held right after it.
    pub(crate) held: Option<Short>,
    /// When it was certainly in no commit, however old it is.
    pub(crate) open_at: Option<Timestamp>,
}

/// What an edit left.
#[derive(Clone, Debug)]
pub(super) struct LeftContent {
    pub(super) name: Short,
    pub(super) text: Option<Arc<[u8]>>,
    /// The text that the file had right before it, if that was seen.
    pub(super) before: Option<Arc<[u8]>>,
}

/// A file as it was last seen.
#[derive(Clone, Debug)]
pub(super) struct SeenText {
    pub(super) at: Timestamp,
    pub(super) meta: FileMeta,
    pub(super) text: Arc<[u8]>,
}

/// What a fate was determined by, beside the edited file: as long as this is the same, so is the fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeMark {
    pub(super) head: Option<Name>,
    /// The head's log, the index, the log of the stash, and settings.
    pub(super) files: Arc<[Option<FileMeta>]>,
    pub(super) known: EditFacts,
}

/// The files of a working tree that were changed since a moment.
pub(super) struct Listing {
    pub(super) since: Timestamp,
    /// Nothing if there are too many folders, or one cannot be read.
    pub(super) files: Option<Vec<(PathBuf, FileMeta)>>,
}

/// Reads a file with these facts, if it is small enough to be remembered.
pub(super) fn text_of(path: &Path, meta: &FileMeta) -> Option<Vec<u8>> {
    let size = usize::try_from(meta.size).ok().filter(|size| *size <= MOST_TEXT)?;
    let (fd, _) = open_plain(path).ok().filter(|(_, opened)| opened == meta)?;
    read_at(&fd, 0, size, 1).ok()
}
