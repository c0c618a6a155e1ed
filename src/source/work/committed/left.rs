//! What is known of one edit, and what its fate was determined by.

use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::FileMeta;
use crate::source::repos::objects::{Name, Short};

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
