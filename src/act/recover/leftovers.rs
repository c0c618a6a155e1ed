//! Where an interrupted movement left its files: parked, in their place, or under two names.

use std::ffi::OsStr;
use std::path::Path;

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Spot};
use crate::act::fs::files::{FileRef, Files, shown};
use crate::act::fs::print::{identity_of, print_of};
use crate::core::history::movement::{ParkLocation, Print};
use crate::core::model::{Content, FileImage};

/// The message for a place where nothing lies any more.
pub(super) const GONE: &str = "is gone";

/// Describes where the older content stays, since its place has changed, and how to get it back: an entry that was not
/// done cannot be undone. `None` if it is not parked.
pub(super) fn parked_note<D: Disk>(
    files: &Files<'_, D>,
    path: &Path,
    parked: &ParkLocation,
    since: &str,
) -> Result<Option<String>, ActionError> {
    let Some(park) = files.park_if_any(parked)? else { return Ok(None) };
    let is_parked = files.look(park.spot(), path)?.is_some();
    Ok(is_parked.then(|| {
        format!(
            "{} {since}, the older content stays parked: copy it back from {}",
            shown(path),
            shown(&park.path)
        )
    }))
}

/// Expects a file that is not parked to be in its place, or to be known to have gone from it.
///
/// # Errors
/// Its folder, or the one where it was to be parked, is away: the file may be there, and the entry stays open until
/// the folder is back.
pub(super) fn expect_here<D: Disk>(
    files: &Files<'_, D>,
    path: &Path,
    parked: &ParkLocation,
    print: &Print,
) -> Result<(), ActionError> {
    let away = |folder: &Path| {
        Err(ActionError::Away(format!(
            "{} has changed, perhaps because its disk is missing: what was taken from {}, if anything, may be there, \
             and is put right once the disk is back",
            shown(folder),
            shown(path)
        )))
    };
    let parent = path.parent().unwrap_or(path);
    let Some(at) = files.at_if_any(path)? else { return away(parent) };
    // A disk can have another number after a boot, so the content of the place is stronger evidence.
    if read(files, at.spot(), path)?.is_some_and(|there| is_still(&there, print)) {
        return Ok(());
    }
    let folder = files.look((&at.folder, OsStr::new(".")), path)?.and_then(|image| image.meta);
    if folder.is_none_or(|meta| meta.dev != print.dev) {
        return away(parent);
    }
    match (files.park_if_any(parked)?, &parked.folder) {
        (None, Some(folder)) => away(folder),
        _ => Ok(()),
    }
}

/// Returns whether a parked file also lies in its place under a second name, and then removes the parked one: if the
/// kernel cannot rename without clobbering, a file is linked first.
pub(super) fn has_two_names<D: Disk>(
    files: &Files<'_, D>,
    park: &FileRef<D::Folder>,
    at: &FileRef<D::Folder>,
) -> Result<bool, ActionError> {
    let id = |image: FileImage| image.meta.map(|meta| (meta.dev, meta.ino));
    let parked = files.look(park.spot(), &park.path)?.and_then(id);
    if parked.is_none() || parked != files.look(at.spot(), &at.path)?.and_then(id) {
        return Ok(false);
    }
    files.disk.remove(park.spot()).map_err(ActionError::failed_at("remove the second name of", &at.path))?;
    Ok(true)
}

/// Returns whether it is the very file that was meant, whatever its content now.
pub(super) fn is_same_file(lies: &Print, print: &Print) -> bool {
    (lies.dev, lies.ino) == (print.dev, print.ino)
}

/// Returns whether it is the file that was meant, or has the same content.
pub(super) fn is_still(lies: &Print, print: &Print) -> bool {
    is_same_file(lies, print) || !lies.is_unread() && lies.sha256 == print.sha256
}

/// Reads the file in a spot. One that cannot be read must not be mistaken for another.
pub(super) fn read<D: Disk>(
    files: &Files<'_, D>,
    spot: Spot<'_, D::Folder>,
    path: &Path,
) -> Result<Option<Print>, ActionError> {
    let Some(image) = files.look(spot, path)? else { return Ok(None) };
    match &image.content {
        Content::Bytes(_) => Ok(print_of(&image)),
        Content::Failed(_) => Err(ActionError::failed_at("read", path)(Errno::IO)),
        // A link, a folder and the like is not ours; a file that is only too large to be read may be.
        Content::Refused(_) => Ok(Some(identity_of(&image).unwrap_or_else(|| Print::unread(0, 0)))),
    }
}
