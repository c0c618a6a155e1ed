//! From a place's pattern to the folders that fit it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::FileType;

use crate::source::os::fence::resolve;
use crate::source::os::open::error::OpenError;
use crate::source::os::open::folder::Folder;

/// The most folders that one `*` stands for.
const MAX_FOLDERS: usize = 10_000;

/// A folder that fits, or why it could not be opened.
pub(crate) type Fitting = Result<Rc<Folder>, OpenError>;

/// Whether links below a base are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Links that the owner of a home has made there, to folders of their own.
    Own,
    /// No links: those in a repository come from its author.
    None,
}

impl Links {
    fn enter(self, folder: &Folder, name: &OsStr) -> Fitting {
        let entered = match self {
            Self::Own => folder.enter_own(name),
            Self::None => folder.enter(name),
        };
        entered.map(Rc::new)
    }
}

/// Opens the folder of a base. A person may have made it a link, so a link is followed here.
pub(crate) fn base(at: &Path) -> Fitting {
    let opened = match Folder::open(at) {
        Err(OpenError::NoFolder { sort: "symlink", .. }) => Folder::open(&resolve(at)),
        opened => opened,
    };
    opened.map(Rc::new)
}

/// Opens every folder below `base` that fits `dir`, whose parts may be `*`.
pub(crate) fn fitting(base: &Fitting, dir: &str, links: Links) -> Vec<Fitting> {
    let mut folders = vec![base.clone()];
    for part in dir.split('/').filter(|part| !part.is_empty()) {
        folders = folders.into_iter().flat_map(|folder| step(folder, part, links)).collect();
    }
    folders
}

fn step(folder: Fitting, part: &str, links: Links) -> Vec<Fitting> {
    match folder {
        Ok(folder) if part == "*" => children(&folder, links).unwrap_or_else(|error| vec![Err(error)]),
        Ok(folder) => vec![links.enter(&folder, OsStr::new(part))],
        Err(error) => vec![Err(error)],
    }
}

fn children(folder: &Folder, links: Links) -> Result<Vec<Fitting>, OpenError> {
    let mut entries = folder.entries(|_| true)?;
    entries.retain(|entry| match entry.sort {
        FileType::Directory | FileType::Unknown => true,
        FileType::Symlink => links == Links::Own,
        FileType::RegularFile
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice => false,
    });
    entries.truncate(MAX_FOLDERS);
    let opened = entries.iter().map(|entry| links.enter(folder, &entry.name));
    // A plain file among the folders is skipped, and is not a failure.
    Ok(opened.filter(|opened| !matches!(opened, Err(OpenError::NoFolder { .. }))).collect())
}

/// Returns the folders whose change can change the fitting folders: the named one, or the parents of each `*`, written
/// as `parent/*`.
pub(crate) fn watched(base: &Path, dir: &str) -> Vec<PathBuf> {
    match dir.split_once('*') {
        None => vec![base.join(dir)],
        Some((parent, _)) => vec![base.join(parent).join("*")],
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn of_links_below_a_home_only_the_owners_own_are_followed() {
        let home = tempfile::tempdir().unwrap();
        let path = |below: &str| home.path().canonicalize().unwrap().join(below);
        for below in ["dotfiles/sessions", "dotfiles/tasks/one", "dotfiles/open", ".claude/tasks"] {
            std::fs::create_dir_all(path(below)).unwrap();
            std::fs::set_permissions(path(below), PermissionsExt::from_mode(0o755)).unwrap();
        }
        std::fs::set_permissions(path("dotfiles/open"), PermissionsExt::from_mode(0o777)).unwrap();
        std::fs::set_permissions(path(".claude"), PermissionsExt::from_mode(0o755)).unwrap();
        symlink("../dotfiles/sessions", path(".claude/sessions")).unwrap();
        symlink(path("dotfiles/tasks/one"), path(".claude/tasks/one")).unwrap();
        symlink(path("dotfiles/open"), path(".claude/open")).unwrap();
        let opened = |dir: &str, links| -> Vec<Option<PathBuf>> {
            let found = fitting(&base(&path(".claude")), dir, links);
            found.iter().map(|one| one.as_ref().ok().map(|folder| folder.path().to_path_buf())).collect()
        };
        assert_eq!(opened("sessions", Links::Own), [Some(path("dotfiles/sessions"))]);
        assert_eq!(opened("tasks/*", Links::Own), [Some(path("dotfiles/tasks/one"))]);
        // Any user can change what that leads to.
        assert_eq!(opened("open", Links::Own), [None]);
        assert_eq!((opened("sessions", Links::None), opened("tasks/*", Links::None)), (vec![None], vec![]));
        // Any user can change where it leads.
        std::fs::set_permissions(path(".claude"), PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(opened("sessions", Links::Own), [None]);
    }
}
