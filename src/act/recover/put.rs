//! Telling whether a put that was cut off was done, and finishing it.

use std::path::Path;

use super::leftovers::{has_two_names, is_still, read};
use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::Files;
use crate::core::history::movement::{Parked, Print};

/// Returns whether a put was done, and finishes one that was.
pub(crate) fn finish_put<D: Disk>(
    files: &Files<'_, D>,
    to: &Path,
    parked: &Parked,
    print: &Print,
) -> Result<bool, ActionError> {
    let Some(at) = files.at_if_any(to)? else { return Ok(false) };
    if let Some(park) = files.park_if_any(parked)?
        && files.look(park.spot(), to)?.is_some()
    {
        return has_two_names(files, &park, &at);
    }
    // It has left the park: by the put, or it was never taken.
    let there = read(files, at.spot(), to)?;
    Ok(there.is_some_and(|there| is_still(&there, print)))
}
