//! The kind of file system a record is on: what its times and its owner can prove.

use serde::{Deserialize, Serialize};

/// The kind of file system a file is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    /// Only this machine writes there: file times are by its clock, and owners are its users.
    #[default]
    Local,
    /// The same, but the mount maps owners, or the file may have been given to another owner: the owner need not be
    /// the writer.
    Mapped,
    /// On a network, shared between machines, or carried from one to another (FAT, NTFS): file times
    /// may be by another machine's clock, and owners are mapped or not kept at all.
    Shared,
    /// It is not known.
    Unknown,
}

impl Medium {
    /// Returns whether only this machine can have written there, so that file times are by its clock.
    pub fn is_this_machines(self) -> bool {
        match self {
            Self::Local | Self::Mapped => true,
            Self::Shared | Self::Unknown => false,
        }
    }

    /// Returns whether a file's owner is the user whose process made it.
    pub fn has_true_owners(self) -> bool {
        match self {
            Self::Local => true,
            Self::Mapped | Self::Shared | Self::Unknown => false,
        }
    }

    /// Returns whether it is local, as for nearly all files; recordings omit that.
    pub(crate) fn is_local(&self) -> bool {
        *self == Self::Local
    }
}
