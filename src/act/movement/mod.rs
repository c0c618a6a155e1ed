//! The movements: take, put, exchange. None overwrites, and none copies: each is a rename within
//! one file system, so that whoever has a file open, seen or not, goes on writing into that very
//! file, wherever it lies by then. What is cut off in between, [`crate::act::recover`] puts back.

mod exchange;
mod park;
mod print;
mod put;
mod reverse;
mod take;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

pub(super) use self::park::{ParkPlace, not_ours};
pub(super) use self::print::{print_of, sha256};
pub(super) use self::put::far;
use super::disk::{Disk, Spot};
use super::rows::Stores;
use super::trouble::Trouble;
use crate::core::history::journal::{Movement, Parked};
use crate::core::model::text::Untrusted;

/// A disk with the folder where things are parked.
pub(super) struct Hands<'a, D: Disk> {
    /// The disk.
    pub(super) disk: &'a D,
    /// Where the state folder's own parked things lie.
    pub(super) parked_path: &'a Path,
    /// The databases.
    pub(super) stores: &'a Stores,
}

/// A name in a folder that was opened.
pub(super) struct At<F> {
    pub(super) folder: F,
    pub(super) path: PathBuf,
}

impl<F> At<F> {
    pub(super) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    pub(super) fn spot(&self) -> Spot<'_, F> {
        (&self.folder, self.name())
    }
}

/// Returns the name under which claimtop keeps a file of a movement in that file's own folder.
pub(super) fn aside(parked: &str) -> String {
    let number: String = parked.splitn(3, '-').take(2).collect::<Vec<_>>().join("-");
    format!(".claimtop-{number}")
}

/// Returns the name under which old content waits to be exchanged back.
pub(super) fn back_name(parked: &str) -> String {
    format!("{}-back", aside(parked))
}

impl<D: Disk> Hands<'_, D> {
    /// Opens the folder of a file.
    pub(super) fn at(&self, path: &Path) -> Result<At<D::Folder>, Trouble> {
        let parent = path.parent().unwrap_or(Path::new("/"));
        let folder = self.disk.folder(parent).map_err(Trouble::at("open the folder", parent))?;
        Ok(At { folder, path: path.to_path_buf() })
    }

    /// Opens the folder of a file; `None` when it has gone.
    pub(super) fn at_if_any(&self, path: &Path) -> Result<Option<At<D::Folder>>, Trouble> {
        if_any(self.at(path))
    }

    /// Returns whether nothing lies under the names that a movement makes for itself.
    pub(super) fn is_free(&self, movement: &Movement) -> Result<bool, Trouble> {
        let (parked, from) = match movement {
            Movement::Take { from: path, parked, .. } | Movement::Exchange { path, parked, .. } => {
                (parked.clone(), Some(path))
            }
            Movement::Rows { backup: Some(name), .. } => (Parked::in_state(name), None),
            // What is put was taken before, and was parked under its name then.
            Movement::Rows { backup: None, .. } | Movement::Put { .. } => return Ok(true),
        };
        if let Some(park) = self.park_if_any(&parked)?
            && self.look(park.spot(), &park.path)?.is_some()
        {
            return Ok(false);
        }
        let Some(at) = from.map(|from| self.at_if_any(from)).transpose()?.flatten() else {
            return Ok(true);
        };
        let [own, back] = [aside(&parked.name), back_name(&parked.name)];
        let is_free = |name: &str| Ok(self.look((&at.folder, OsStr::new(name)), &at.path)?.is_none());
        Ok(is_free(&own)? && is_free(&back)?)
    }

    /// Brings to the disk what a movement did to the folder of a file.
    pub(super) fn settle(&self, at: &At<D::Folder>) -> Result<(), Trouble> {
        self.disk.sync_folder(&at.folder).map_err(Trouble::at("bring to the disk the folder of", &at.path))
    }
}

/// Returns nothing where there is no folder.
fn if_any<T>(opened: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
    match opened {
        Err(Trouble::Failed { errno: Errno::NOENT, .. }) => Ok(None),
        opened => opened.map(Some),
    }
}

pub(super) fn shown(path: &Path) -> Untrusted {
    Untrusted::from_path(path)
}
