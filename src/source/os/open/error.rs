//! Why a folder could not be opened or listed.

use std::path::PathBuf;

use rustix::io::Errno;

use crate::core::model::Untrusted;

/// Why a folder could not be opened or listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// There is no such folder.
    #[error("no folder {}", Untrusted::from_path(.path))]
    Absent {
        /// The path where it would be.
        path: PathBuf,
    },
    /// Something else is there, and is not followed.
    #[error("failed to open {}: it is a {sort}, not a folder", Untrusted::from_path(.path))]
    NoFolder {
        /// Its path.
        path: PathBuf,
        /// What it is, such as `symlink`.
        sort: &'static str,
    },
    /// The system refuses.
    #[error("failed to read folder {}: {}", Untrusted::from_path(.path), errno_text(*.source))]
    Failed {
        /// Its path.
        path: PathBuf,
        /// The system's answer.
        source: Errno,
    },
}

impl OpenError {
    /// Returns whether nothing is there.
    pub fn is_absence(&self) -> bool {
        match self {
            Self::Absent { .. } => true,
            Self::NoFolder { .. } | Self::Failed { .. } => false,
        }
    }
}

/// Returns the system's own words for an error, in lower case and without its number.
pub(crate) fn errno_text(error: Errno) -> String {
    let text = std::io::Error::from(error).to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.to_lowercase()
}
