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

/// A folder that fits, or why there is none.
pub(crate) type Fitting = Result<Rc<Folder>, OpenError>;

/// Opens the folder of a base. A person may well have made it a link, so that one is followed;
/// nothing below it is.
pub(crate) fn base(at: &Path) -> Fitting {
    let opened = match Folder::open(at) {
        Err(OpenError::NoFolder { sort: "symlink", .. }) => Folder::open(&resolve(at)),
        opened => opened,
    };
    opened.map(Rc::new)
}

/// Opens every folder below `base` that fits `dir`, whose parts may be `*`.
pub(crate) fn fitting(base: &Fitting, dir: &str) -> Vec<Fitting> {
    let mut folders = vec![base.clone()];
    for part in dir.split('/').filter(|part| !part.is_empty()) {
        folders = folders.into_iter().flat_map(|folder| step(folder, part)).collect();
    }
    folders
}

fn step(folder: Fitting, part: &str) -> Vec<Fitting> {
    match folder {
        Ok(folder) if part == "*" => children(&folder).unwrap_or_else(|error| vec![Err(error)]),
        Ok(folder) => vec![folder.enter(OsStr::new(part)).map(Rc::new)],
        Err(error) => vec![Err(error)],
    }
}

fn children(folder: &Folder) -> Result<Vec<Fitting>, OpenError> {
    let mut entries = folder.entries(|_| true)?;
    entries.retain(|entry| matches!(entry.sort, FileType::Directory | FileType::Unknown));
    entries.truncate(MAX_FOLDERS);
    let opened = entries.iter().map(|entry| folder.enter(&entry.name).map(Rc::new));
    // A plain file among the folders is none of them, and no failure.
    Ok(opened.filter(|opened| !matches!(opened, Err(OpenError::NoFolder { .. }))).collect())
}

/// Returns the folders whose change can change what fits: the one named, or the parents of
/// each `*`, told as `parent/*`.
pub(crate) fn watched(base: &Path, dir: &str) -> Vec<PathBuf> {
    match dir.split_once('*') {
        None => vec![base.join(dir)],
        Some((parent, _)) => vec![base.join(parent).join("*")],
    }
}
