//! Where files are parked: always on their own file system, within reach of a rename, so that a process that is still
//! writing into a file writes into the parked one.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, FolderAccess};
use crate::act::fs::files::{FileRef, Files, if_any, shown};
use crate::core::history::journal::History;
use crate::core::history::movement::ParkLocation;
use crate::format;

/// Where a file can be parked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ParkPlace {
    /// In the state folder.
    State,
    /// In `claimtop/` of a repository's common directory: not in a working tree, where `git clean`
    /// would find it, and not below `worktrees/`, which git prunes.
    Git(PathBuf),
    /// In a folder of ours above the file.
    Above(PathBuf),
    /// In a folder where every user may make files and remove only their own, such as `/tmp`.
    Sticky(PathBuf),
}

impl ParkPlace {
    /// Returns the folder in which claimtop's own is made, and the prefix of its name: no system's reader takes such a
    /// name for its own. A random number makes it unique to one claimtop.
    fn within(&self) -> Option<(PathBuf, &'static str)> {
        match self {
            Self::State => None,
            Self::Git(common) => Some((common.join("claimtop"), "parked-")),
            Self::Above(folder) => Some((folder.clone(), ".claimtop-parked-")),
            Self::Sticky(folder) => Some((folder.clone(), "claimtop-parked-")),
        }
    }

    /// Describes where a file is parked, unless that is the state folder.
    pub(crate) fn place_text(&self) -> Option<String> {
        Some(match self {
            Self::State => return None,
            Self::Git(common) => format!("parked on its own file system, in {}/claimtop", shown(common)),
            Self::Above(folder) => {
                format!("parked on its own file system, in a folder of its own in {}", shown(folder))
            }
            Self::Sticky(folder) => {
                let folder = shown(folder);
                format!(
                    "parked on its own file system, in a folder of its own in {folder}: a reboot or a cleaner of {folder} may delete it"
                )
            }
        })
    }
}

impl<D: Disk> Files<'_, D> {
    /// Chooses where a file can be parked.
    ///
    /// # Errors
    /// There is no place on its file system.
    pub(crate) fn place_for(&self, at: &FileRef<D::Folder>) -> Result<ParkPlace, ActionError> {
        if self.reaches(&at.folder, self.parked_path)? {
            return Ok(ParkPlace::State);
        }
        let folder = at.path.parent().unwrap_or(Path::new("/"));
        let common = self.disk.common_dir(folder);
        if let Some(common) = common
            && self.is_ours(&at.folder, &common)?
        {
            return Ok(ParkPlace::Git(common));
        }
        for above in folder.ancestors() {
            match self.access_at(&at.folder, above)? {
                Some(FolderAccess::Sticky) => return Ok(ParkPlace::Sticky(above.to_path_buf())),
                Some(FolderAccess::Ours) if above != folder && self.is_quiet(above) => {
                    return Ok(ParkPlace::Above(above.to_path_buf()));
                }
                Some(FolderAccess::Ours | FolderAccess::Others) => {}
                None => break,
            }
        }
        Err(ActionError::Never(format!(
            "{} is on another file system than {}, and there is no folder there to park it in that is yours alone and unwatched; claimtop does not copy",
            shown(&at.path),
            shown(self.parked_path)
        )))
    }

    /// Returns whether no system looks for its files in a folder.
    fn is_quiet(&self, folder: &Path) -> bool {
        !format::is_listed(folder) && self.disk.common_dir(folder).is_none()
    }

    fn is_ours(&self, from: &D::Folder, path: &Path) -> Result<bool, ActionError> {
        Ok(self.access_at(from, path)? == Some(FolderAccess::Ours))
    }

    /// Returns who has access to a folder; `None` if a rename does not reach it.
    fn access_at(&self, from: &D::Folder, path: &Path) -> Result<Option<FolderAccess>, ActionError> {
        let Ok(folder) = self.disk.folder(path) else { return Ok(Some(FolderAccess::Others)) };
        match self
            .disk
            .reaches(from, &folder)
            .map_err(ActionError::failed_at("read the file system of", path))?
        {
            true => self
                .disk
                .access_of(&folder)
                .map(Some)
                .map_err(ActionError::failed_at("read the owner of", path)),
            false => Ok(None),
        }
    }

    /// Returns whether a rename reaches a folder, or the place where it is to be made.
    pub(crate) fn reaches(&self, from: &D::Folder, path: &Path) -> Result<bool, ActionError> {
        for above in path.ancestors() {
            match self.folder(above) {
                // A path that does not exist, or is something else, is not reached by its own name.
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(errno) => return Err(ActionError::failed_at("open", above)(errno)),
                Ok(folder) => {
                    let reaches = self.disk.reaches(from, &folder);
                    return reaches.map_err(ActionError::failed_at("read the file system of", above));
                }
            }
        }
        Ok(false)
    }

    /// Returns the folder in which a place parks: the previous one, if it exists and only this user has access,
    /// otherwise a new one, which is not made yet.
    pub(crate) fn folder_of(&self, place: &ParkPlace, history: &History) -> Option<PathBuf> {
        let (within, begins) = place.within()?;
        let is_its = |folder: &&Path| {
            let name = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begins));
            name && folder.parent() == Some(&within)
        };
        let is_ours = |folder: &&Path| {
            let there = self.disk.folder(folder).and_then(|folder| self.disk.access_of(&folder));
            there == Ok(FolderAccess::Ours)
        };
        let before = history.parked_folders().into_iter().filter(is_its).find(is_ours);
        let new = || within.join(format!("{begins}{:016x}", self.disk.random()));
        Some(before.map_or_else(new, Path::to_path_buf))
    }

    /// Makes the folder in which a file is to be parked.
    pub(crate) fn make_park(&self, parked: &ParkLocation) -> Result<(), ActionError> {
        let Some(folder) = &parked.folder else { return Ok(()) };
        self.disk.make_folder(folder).map_err(ActionError::failed_at("make", folder))?;
        let parent = folder.parent().unwrap_or(Path::new("/"));
        check_parent(self.disk, parent)?;
        self.park(parked).map(drop)
    }

    /// Opens the folder in which a file is parked. Only this user may have access to it, and the name must be one in
    /// it: the journal's writer is not trusted to be right.
    pub(crate) fn park(&self, parked: &ParkLocation) -> Result<FileRef<D::Folder>, ActionError> {
        let name = Path::new(&parked.name);
        if name.file_name() != Some(name.as_os_str()) {
            return Err(ActionError::Never(format!(
                "the journal names {} as parked, which is not a plain name: it is left alone",
                shown(name)
            )));
        }
        let path = parked.folder.as_deref().unwrap_or(self.parked_path);
        let folder = self.disk.folder(path).map_err(ActionError::failed_at("open", path))?;
        Ok(FileRef { folder: own_folder(self.disk, folder, path)?, path: path.join(name) })
    }

    /// Opens the folder in which a file is parked; `None` if it has gone.
    pub(crate) fn park_if_any(
        &self,
        parked: &ParkLocation,
    ) -> Result<Option<FileRef<D::Folder>>, ActionError> {
        if_any(self.park(parked))
    }
}

/// Returns a folder if only this user has access.
///
/// # Errors
/// Other users have access too, or the system does not say.
pub(crate) fn own_folder<D: Disk>(
    disk: &D,
    folder: D::Folder,
    path: &Path,
) -> Result<D::Folder, ActionError> {
    match disk.access_of(&folder).map_err(ActionError::failed_at("read the owner of", path))? {
        FolderAccess::Ours => Ok(folder),
        FolderAccess::Sticky | FolderAccess::Others => Err(not_ours(path)),
    }
}

/// Checks that no other user can replace this user's own folder in a parent folder.
///
/// # Errors
/// Another user can, or the parent cannot be opened.
pub(crate) fn check_parent<D: Disk>(disk: &D, parent: &Path) -> Result<(), ActionError> {
    match disk.folder(parent).and_then(|parent| disk.access_of(&parent)) {
        Ok(FolderAccess::Ours | FolderAccess::Sticky) => Ok(()),
        Ok(FolderAccess::Others) => Err(not_ours(parent)),
        Err(errno) => Err(ActionError::failed_at("open", parent)(errno)),
    }
}

/// Returns the error that other users could change the files of a folder.
fn not_ours(path: &Path) -> ActionError {
    ActionError::Never(format!("other users can write to {}: nothing in it is touched", shown(path)))
}
