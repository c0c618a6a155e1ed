//! The movements: take, put, exchange. None overwrites; each leaves exactly one copy of every
//! byte, whatever fails in it and wherever it is cut off.
//!
//! Within one file system a movement is one rename that cannot clobber. To another one, the
//! file is first renamed to a name of claimtop's own in its folder, so that nobody else can open
//! it. When nobody is seen to have it open for writing, it is copied with its group and what else
//! people gave it, brought to the disk, read back and compared, with mode and times; and only then
//! is the first copy removed. What is cut off in between, [`super::recover`] puts back.

mod copy;
mod exchange;
mod print;
mod put;
mod reverse;
mod take;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

pub(super) use self::print::{print_of, sha256};
use super::disk::{Disk, Spot};
use super::rows::Stores;
use super::trouble::Trouble;
use crate::core::journal::Movement;
use crate::core::text::Untrusted;

/// A disk with the folder where things are parked.
pub(super) struct Hands<'a, D: Disk> {
    /// The disk.
    pub(super) disk: &'a D,
    /// The open parked folder.
    pub(super) parked: &'a D::Folder,
    /// Where that is, for people.
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

/// Returns the name under which old content waits to be exchanged back. It is not the name that
/// a put to another file system copies to.
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
        match self.at(path) {
            Ok(at) => Ok(Some(at)),
            Err(Trouble::Failed { errno: Errno::NOENT, .. }) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Returns whether nothing lies under the names that a movement makes for itself.
    pub(super) fn is_free(&self, movement: &Movement) -> Result<bool, Trouble> {
        let (parked, from) = match movement {
            Movement::Take { from: path, parked, .. } | Movement::Exchange { path, parked, .. } => {
                (parked, Some(path))
            }
            Movement::Rows { backup: Some(parked), .. } => (parked, None),
            // What is put was taken before, and was parked under its name then.
            Movement::Rows { backup: None, .. } | Movement::Put { .. } => return Ok(true),
        };
        let is_free = |spot, path: &Path| Ok(self.look(spot, path)?.is_none());
        let is_parked_free = is_free(self.in_park(parked), &self.park_path(parked))?;
        let Some(at) = from.map(|from| self.at_if_any(from)).transpose()?.flatten() else {
            return Ok(is_parked_free);
        };
        let [own, back] = [aside(parked), back_name(parked)];
        Ok(is_parked_free
            && is_free((&at.folder, OsStr::new(&own)), &at.path)?
            && is_free((&at.folder, OsStr::new(&back)), &at.path)?)
    }

    pub(super) fn in_park<'b>(&'b self, parked: &'b str) -> Spot<'b, D::Folder> {
        (self.parked, OsStr::new(parked))
    }

    pub(super) fn park_path(&self, parked: &str) -> PathBuf {
        self.parked_path.join(parked)
    }

    /// Brings to the disk what a movement did to a folder of the world and to the parked one.
    pub(super) fn settle(&self, path: &Path) -> Result<(), Trouble> {
        let at = self.at(path)?;
        self.disk.sync_folder(&at.folder).map_err(Trouble::at("bring to the disk the folder of", path))
    }
}

pub(super) fn shown(path: &Path) -> Untrusted {
    Untrusted::from_path(path)
}
