//! Telling whether a put that was cut off was done, and finishing it.

use std::ffi::OsStr;
use std::path::Path;

use super::{read, remove, remove_begun_copy};
use crate::act::disk::Disk;
use crate::act::movement::{Hands, aside};
use crate::act::trouble::Trouble;
use crate::core::journal::Print;

/// Returns whether a put was done, and finishes one that was.
pub(super) fn finish_put<D: Disk>(
    hands: &Hands<'_, D>,
    to: &Path,
    parked: &str,
    print: &Print,
) -> Result<bool, Trouble> {
    let Some(at) = hands.at_if_any(to)? else { return Ok(false) };
    let own = aside(parked);
    let beside = (&at.folder, OsStr::new(&own));
    if hands.look(hands.in_park(parked), to)?.is_none() {
        // It has left the park: by the put, or it was never taken.
        return Ok(read(hands, at.spot(), to)?.is_some_and(|there| there.sha256 == print.sha256));
    }
    remove_begun_copy(hands, beside, parked, to)?;
    if read(hands, at.spot(), to)?.is_some_and(|there| there.sha256 == print.sha256) {
        remove(hands, parked)?;
        return Ok(true);
    }
    Ok(false)
}
