//! Keeps the note of a hook: who runs which session.

use std::ffi::OsString;
use std::path::Path;

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Side, Spot};
use crate::core::model::BoundSession;
use crate::core::model::json;

/// Writes a note, whole or not at all, for its owner only. It takes the place of the same
/// window's earlier note about the same session and of nothing else, so notes of processes that
/// are gone stay: they are evidence, and some 400 bytes each.
///
/// Nothing is brought to the disk: after a power loss there is another boot, and a note of this
/// one would say no more than none.
///
/// # Errors
/// The folder or the file cannot be made.
pub(crate) fn keep<D: Disk>(disk: &D, folder: &Path, note: &BoundSession) -> Result<(), ActionError> {
    let name = OsString::from(note.file_name());
    let path = folder.join(&name);
    let bytes = json::to_line(note).map_err(|error| ActionError::Never(error.to_string()))?;
    let opened = open(disk, folder)?;
    // A hook that runs twice at once writes two of these; the name is this process's own.
    let draft = OsString::from(format!(".{}.{}.new", note.file_name(), std::process::id()));
    let (from, to) = ((&opened, draft.as_os_str()), (&opened, name.as_os_str()));
    let mut file = disk.create(from).map_err(ActionError::at("make", &path))?;
    let written = disk.write(&mut file, bytes.as_bytes());
    written.and_then(|()| replace(disk, from, to)).map_err(|errno| {
        // A leftover draft of ours is useless.
        let _ = disk.remove(from);
        ActionError::at("write", &path)(errno)
    })
}

pub(crate) fn open<D: Disk>(disk: &D, folder: &Path) -> Result<D::Folder, ActionError> {
    match disk.folder(folder) {
        Err(Errno::NOENT) => {
            disk.make_folder(folder).map_err(ActionError::at("make", folder))?;
            disk.folder(folder)
        }
        opened => opened,
    }
    .map_err(ActionError::at("open", folder))
}

/// Moves a draft to its name; where the window's earlier note has it, the two change places and
/// that one goes.
pub(crate) fn replace<D: Disk>(
    disk: &D,
    (folder, draft): Spot<'_, D::Folder>,
    to: Spot<'_, D::Folder>,
) -> Result<(), Errno> {
    match disk.rename_new((folder, draft), to, Side::Private) {
        Err(Errno::EXIST) => {
            disk.exchange(folder, draft, to.1)?;
            disk.remove((folder, draft))
        }
        done => done,
    }
}
