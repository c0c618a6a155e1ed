//! Puts back files that an interrupted movement had only taken.

use std::path::Path;

use rustix::io::Errno;

use super::leftovers::{GONE, expect_here, has_two_names, is_still, parked_note, read};
use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Side};
use crate::act::fs::files::{FileRef, Files, shown};
use crate::core::history::movement::{ParkLocation, Print};

/// Puts a taken file back; returns a note if something else lies in its place now.
pub(crate) fn untake<D: Disk>(
    files: &Files<'_, D>,
    from: &Path,
    parked: &ParkLocation,
    print: &Print,
) -> Result<Option<String>, ActionError> {
    let lies = |park: &FileRef<D::Folder>| files.look(park.spot(), from);
    let park = files.park_if_any(parked)?;
    let is_parked = park.as_ref().map_or(Ok(None), lies)?.is_some();
    let Some(park) = park.filter(|_| is_parked) else {
        return expect_here(files, from, parked, print).map(|()| None);
    };
    let Some(at) = files.at_if_any(from)? else { return parked_note(files, from, parked, GONE) };
    match files.disk.rename_new(park.spot(), at.spot(), Side::Public) {
        Err(Errno::EXIST) if has_two_names(files, &park, &at)? => Ok(None),
        Err(Errno::EXIST) => Ok(Some(format!(
            "a newer file is at {}, the older stays parked as {}",
            shown(from),
            shown(&park.path)
        ))),
        Err(Errno::XDEV) => parked_note(files, from, parked, "is now on another file system"),
        done => done.map(|()| None).map_err(ActionError::failed_at("put back", from)),
    }
}

/// Returns whether a put was done, and completes one that was.
pub(crate) fn finish_put<D: Disk>(
    files: &Files<'_, D>,
    to: &Path,
    parked: &ParkLocation,
    print: &Print,
) -> Result<bool, ActionError> {
    let Some(at) = files.at_if_any(to)? else { return Ok(false) };
    if let Some(park) = files.park_if_any(parked)?
        && files.look(park.spot(), to)?.is_some()
    {
        return has_two_names(files, &park, &at);
    }
    // It is no longer in the park: the put moved it, or it was never taken.
    let there = read(files, at.spot(), to)?;
    Ok(there.is_some_and(|there| is_still(&there, print)))
}
