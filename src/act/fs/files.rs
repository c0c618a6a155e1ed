//! The files of an action: opened, looked at, moved.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Spot};
use crate::act::rows::Stores;
use crate::act::stop::processes::Processes;
use crate::core::history::movement::{Movement, Parked};
use crate::core::model::Untrusted;

/// A disk with the folder where things are parked.
pub(crate) struct Files<'a, D: Disk> {
    pub(crate) disk: &'a D,
    /// Where the state folder's own parked things lie.
    pub(crate) parked_path: &'a Path,
    pub(crate) stores: &'a Stores,
    pub(crate) processes: &'a dyn Processes,
}

/// A name in a folder that was opened.
pub(crate) struct FileRef<F> {
    pub(crate) folder: F,
    pub(crate) path: PathBuf,
}

impl<F> FileRef<F> {
    pub(crate) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    pub(crate) fn spot(&self) -> Spot<'_, F> {
        (&self.folder, self.name())
    }
}

/// Returns the name under which claimtop keeps a file of a movement in that file's own folder.
pub(crate) fn aside(parked: &str) -> String {
    let number: String = parked.splitn(3, '-').take(2).collect::<Vec<_>>().join("-");
    format!(".claimtop-{number}")
}

/// Returns the name under which old content waits to be exchanged back.
pub(crate) fn back_name(parked: &str) -> String {
    format!("{}-back", aside(parked))
}

impl<D: Disk> Files<'_, D> {
    pub(crate) fn at(&self, path: &Path) -> Result<FileRef<D::Folder>, ActionError> {
        let parent = path.parent().unwrap_or(Path::new("/"));
        let folder = self.disk.folder(parent).map_err(ActionError::at("open the folder", parent))?;
        Ok(FileRef { folder, path: path.to_path_buf() })
    }

    /// Opens the folder of a file; `None` when it has gone.
    pub(crate) fn at_if_any(&self, path: &Path) -> Result<Option<FileRef<D::Folder>>, ActionError> {
        if_any(self.at(path))
    }

    /// Returns whether anything of a file is parked under a name.
    pub(crate) fn is_parked(&self, parked: &Parked, path: &Path) -> Result<bool, ActionError> {
        let park = self.park_if_any(parked)?;
        Ok(park.map_or(Ok(None), |park| self.look(park.spot(), path))?.is_some())
    }

    /// Returns whether nothing lies under the names that a movement makes for itself.
    pub(crate) fn is_free(&self, movement: &Movement) -> Result<bool, ActionError> {
        let (parked, from) = match movement {
            Movement::Take { from: path, parked, .. } | Movement::Exchange { path, parked, .. } => {
                (parked.clone(), Some(path))
            }
            Movement::Rows { backup: Some(name), .. } => (Parked::in_state(name), None),
            // What is put was taken before, and was parked under its name then.
            Movement::Rows { backup: None, .. } | Movement::Put { .. } | Movement::Stop { .. } => {
                return Ok(true);
            }
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
    pub(crate) fn settle(&self, at: &FileRef<D::Folder>) -> Result<(), ActionError> {
        self.disk
            .sync_folder(&at.folder)
            .map_err(ActionError::at("bring to the disk the folder of", &at.path))
    }
}

/// Returns nothing where there is no folder.
pub(crate) fn if_any<T>(opened: Result<T, ActionError>) -> Result<Option<T>, ActionError> {
    match opened {
        Err(ActionError::Failed { errno: Errno::NOENT, .. }) => Ok(None),
        opened => opened.map(Some),
    }
}

pub(crate) fn shown(path: &Path) -> Untrusted {
    Untrusted::from_path(path)
}
