//! Undoes an interrupted exchange, wherever it was cut off, also in the middle of a recovery.

use std::ffi::OsStr;
use std::path::Path;

use rustix::io::Errno;

use super::leftovers::{GONE, expect_here, is_same_file, parked_note, read};
use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Spot};
use crate::act::fs::files::{FileRef, Files, aside, back_name, shown};
use crate::core::history::movement::{Movement, ParkLocation, Print};

/// Undoes an interrupted exchange; returns a note if the file was written meanwhile.
pub(crate) fn unexchange<D: Disk>(
    files: &Files<'_, D>,
    path: &Path,
    parked: &ParkLocation,
    print: &Print,
    new_sha256: &str,
) -> Result<Option<String>, ActionError> {
    let Some(at) = files.at_if_any(path)? else {
        return parked_or_gone_note(files, path, (parked, print), GONE);
    };
    let own = aside(&parked.name);
    let beside = (&at.folder, OsStr::new(&own));
    if let Some(ended) = unback(files, &at, parked, new_sha256)? {
        return Ok(ended);
    }
    let there = read(files, at.spot(), path)?;
    let is_original = there.as_ref().is_some_and(|there| is_same_file(there, print));
    let Some(lies_beside) = read(files, beside, path)? else {
        if is_original {
            return Ok(None);
        }
        let since = match there {
            None => Some(GONE),
            Some(there) => (there.sha256 != new_sha256).then_some("was written meanwhile"),
        };
        return match since {
            Some(since) => parked_or_gone_note(files, path, (parked, print), since),
            None => unpark(files, path, parked, print, new_sha256),
        };
    };
    if is_same_file(&lies_beside, print) {
        return swap_back(files, &at, beside, parked, new_sha256);
    }
    // A file that could not be read has no sum, and may contain anything.
    let is_empty = lies_beside.size == 0 && !lies_beside.sha256.is_empty();
    if lies_beside.sha256 == new_sha256 || is_empty {
        // The file beside is the new content, or the beginning of it, and is not in use.
        files.disk.remove(beside).map_err(ActionError::failed_at("remove the new content of", path))?;
        return Ok(None);
    }
    // A part of the new content, or a file that another program wrote while the two were being exchanged back.
    if is_original && files.park_left(beside, parked) {
        let (path, parked) = (shown(path), parked.text());
        return Ok(Some(format!(
            "{path} is unchanged; the file beside it, which may have been written since, is parked as {parked}"
        )));
    }
    // No program has written the file since it got the new content: the file beside it was there before.
    if there.is_some_and(|there| there.sha256 == new_sha256) && !files.is_parked(parked, path)? {
        return swap_back(files, &at, beside, parked, new_sha256);
    }
    Ok(Some(format!("{} is as it was found; the file beside it, {own}, is left alone", shown(path))))
}

/// Describes where the older content stays; if that is not parked, it is known to have gone.
fn parked_or_gone_note<D: Disk>(
    files: &Files<'_, D>,
    path: &Path,
    (parked, print): (&ParkLocation, &Print),
    since: &str,
) -> Result<Option<String>, ActionError> {
    match parked_note(files, path, parked, since)? {
        None => expect_here(files, path, parked, print).map(|()| None),
        note => Ok(note),
    }
}

/// Exchanges what is parked with the new content in its place.
fn unpark<D: Disk>(
    files: &Files<'_, D>,
    path: &Path,
    parked: &ParkLocation,
    print: &Print,
    new_sha256: &str,
) -> Result<Option<String>, ActionError> {
    let park = files.park_if_any(parked)?;
    if park.map_or(Ok(None), |park| read(files, park.spot(), path))?.is_none() {
        return expect_here(files, path, parked, print).map(|()| None);
    }
    let exchange = Movement::Exchange {
        path: path.to_path_buf(),
        parked: parked.clone(),
        print: print.clone(),
        new_sha256: new_sha256.to_owned(),
    };
    files.reverse(&exchange).map(|()| None)
}

/// Finishes an earlier recovery that had put the old content beside under a name of its own, to exchange the two.
/// `None` if it had not got so far.
fn unback<D: Disk>(
    files: &Files<'_, D>,
    at: &FileRef<D::Folder>,
    parked: &ParkLocation,
    new_sha256: &str,
) -> Result<Option<Option<String>>, ActionError> {
    let own = back_name(&parked.name);
    let back = (&at.folder, OsStr::new(&own));
    let Some(lies) = read(files, back, &at.path)? else { return Ok(None) };
    if lies.sha256 == new_sha256 {
        files.disk.remove(back).map_err(ActionError::failed_at("remove the new content of", &at.path))?;
        return Ok(Some(None));
    }
    swap_back(files, at, back, parked, new_sha256).map(Some)
}

/// Exchanges the old content back into its place; if another program has written that meanwhile, parks it as intended.
fn swap_back<D: Disk>(
    files: &Files<'_, D>,
    at: &FileRef<D::Folder>,
    beside: Spot<'_, D::Folder>,
    parked: &ParkLocation,
    new_sha256: &str,
) -> Result<Option<String>, ActionError> {
    match files.swap(at, beside, new_sha256) {
        Ok(()) => {
            files
                .disk
                .remove(beside)
                .map_err(ActionError::failed_at("remove the new content of", &at.path))?;
            Ok(None)
        }
        Err(Errno::EXIST) if files.park_left(beside, parked) => {
            parked_note(files, &at.path, parked, "was written meanwhile")
        }
        Err(Errno::EXIST) => Ok(Some(written_note(&at.path, &beside.1.to_string_lossy()))),
        Err(errno) => Err(ActionError::failed_at("exchange", &at.path)(errno)),
    }
}

fn written_note(path: &Path, own: &str) -> String {
    format!("{} was written meanwhile, the older content is beside it as {own}", shown(path))
}
