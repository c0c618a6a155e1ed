//! The movements of an action: files taken, put or exchanged, rows changed, processes stopped.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::path::exact;
use crate::core::model::{FileMeta, Format, ProcessPrint, RowChange, Signal, Untrusted};

/// The identity of a file: if any part of it differs, it is not the intended file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Print {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// The size in bytes.
    pub(crate) size: u64,
    /// The permission bits.
    pub(crate) mode: u32,
    /// The last change of the content, to the nanosecond.
    pub(crate) modified_at: Timestamp,
    /// The SHA-256 of the content in hex digits; empty if that was not read, and then perhaps only device and inode
    /// are known.
    pub sha256: String,
}

impl Print {
    /// Identifies a file whose content was not read.
    pub(crate) fn unread(dev: u64, ino: u64) -> Self {
        Self { dev, ino, size: 0, mode: 0, modified_at: Timestamp::UNIX_EPOCH, sha256: String::new() }
    }

    /// Describes a file that is too large to be read: all but its content.
    pub(crate) fn of_large(meta: &FileMeta) -> Self {
        let (mode, modified_at) = (meta.ownership.mode.into(), meta.modified_at);
        Self { size: meta.size, mode, modified_at, ..Self::unread(meta.dev, meta.ino) }
    }

    /// Returns whether a file can be the one whose content was not read: the same, and not written since, if its size
    /// is known.
    pub(crate) fn is_of(&self, meta: &FileMeta) -> bool {
        let known = Self::of_large(meta);
        *self == known || *self == Self::unread(meta.dev, meta.ino)
    }

    /// Returns whether the content was not read.
    pub(crate) fn is_unread(&self) -> bool {
        self.sha256.is_empty()
    }

    /// Returns whether it is the same file, whatever its content now. A disk can have another number after a boot.
    pub(crate) fn is_file(&self, other: &Self) -> bool {
        self.ino == other.ino
    }

    /// Returns whether everything but the place on the disk is the same, as in a copy that keeps times.
    pub(crate) fn is_copy(&self, other: &Self) -> bool {
        let (dev, ino) = (other.dev, other.ino);
        !self.is_unread() && Self { dev, ino, ..self.clone() } == *other
    }
}

/// Where something is parked: always on the file system that it came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ParkLocation {
    /// Its name.
    #[serde(rename = "parked")]
    pub name: String,
    /// The folder that it lies in, if that is not the state folder itself.
    #[serde(rename = "parked_in", with = "exact::option", default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
}

impl ParkLocation {
    /// Names something that is parked in the state folder.
    pub(crate) fn in_state(name: &str) -> Self {
        Self { name: name.to_owned(), folder: None }
    }

    /// Returns the name, with its folder if that is not the state folder itself.
    pub(crate) fn text(&self) -> Untrusted {
        match &self.folder {
            None => self.name.as_str().into(),
            Some(folder) => Untrusted::from_path(&folder.join(&self.name)),
        }
    }
}

/// A folder whose path leads through a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lead {
    /// The path as named.
    #[serde(with = "exact")]
    pub(crate) named: PathBuf,
    /// Where that led when the action began, with every link resolved.
    #[serde(with = "exact")]
    pub(crate) leads_to: PathBuf,
}

/// One movement of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "step")]
pub enum Movement {
    /// A file is taken away and parked.
    Take {
        /// Where it lies.
        #[serde(with = "exact")]
        from: PathBuf,
        /// Where it is parked.
        #[serde(flatten)]
        parked: ParkLocation,
        /// Its identity.
        print: Print,
    },
    /// A parked file is put in an empty place.
    Put {
        /// Where it is parked.
        #[serde(flatten)]
        parked: ParkLocation,
        /// Where it goes.
        #[serde(with = "exact")]
        to: PathBuf,
        /// Its identity.
        print: Print,
        /// Its new modification time, if that is changed.
        touched_at: Option<Timestamp>,
    },
    /// New content atomically replaces the old, and the old one is parked.
    Exchange {
        /// Where it lies.
        #[serde(with = "exact")]
        path: PathBuf,
        /// Where the old content is parked.
        #[serde(flatten)]
        parked: ParkLocation,
        /// The identity of the old content.
        print: Print,
        /// The SHA-256 of the new content.
        new_sha256: String,
    },
    /// Rows of a database change in one transaction, all or none.
    Rows {
        /// The system of the database.
        format: Format,
        /// The database: its path, or its URL without a password.
        database: String,
        /// The rows, with their exact values before and after.
        changes: Vec<RowChange>,
        /// The name, in the state folder, of the copy that is made first, if one is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        backup: Option<String>,
    },
    /// Processes are signalled so that they end.
    Stop {
        /// The signal.
        signal: Signal,
        /// The processes, the topmost first.
        processes: Vec<ProcessPrint>,
    },
}

/// Returns whether one of several movements parks something under a name.
pub(crate) fn is_taken(movements: &[Movement], name: &ParkLocation) -> bool {
    movements.iter().any(|one| matches!(one, Movement::Take { parked, .. } if parked == name))
}

impl Movement {
    /// Returns where the file of a movement is parked.
    pub fn parked(&self) -> Option<&ParkLocation> {
        match self {
            Self::Take { parked, .. } | Self::Put { parked, .. } | Self::Exchange { parked, .. } => {
                Some(parked)
            }
            Self::Rows { .. } | Self::Stop { .. } => None,
        }
    }

    /// Returns the place of the file that it changes.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Take { from: path, .. } | Self::Put { to: path, .. } | Self::Exchange { path, .. } => {
                Some(path)
            }
            Self::Rows { .. } | Self::Stop { .. } => None,
        }
    }

    /// Returns the database whose rows it changes.
    pub(crate) fn database(&self) -> Option<&str> {
        match self {
            Self::Rows { database, .. } => Some(database),
            Self::Take { .. } | Self::Put { .. } | Self::Exchange { .. } | Self::Stop { .. } => None,
        }
    }

    /// Returns what it parks and where: a file, or the copy of a database.
    pub(crate) fn parks(&self) -> Option<(ParkLocation, Option<&Print>)> {
        match self {
            Self::Take { parked, print, .. } | Self::Exchange { parked, print, .. } => {
                Some((parked.clone(), Some(print)))
            }
            Self::Rows { backup, .. } => Some((ParkLocation::in_state(backup.as_deref()?), None)),
            Self::Put { .. } | Self::Stop { .. } => None,
        }
    }
}
