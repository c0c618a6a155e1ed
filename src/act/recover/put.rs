//! Telling whether a put that was cut off was done, and finishing it.

use std::path::Path;

use super::{has_two_names, is_same_file, read};
use crate::act::disk::Disk;
use crate::act::movement::Hands;
use crate::act::trouble::Trouble;
use crate::core::history::journal::{Parked, Print};

/// Returns whether a put was done, and finishes one that was.
pub(super) fn finish_put<D: Disk>(
    hands: &Hands<'_, D>,
    to: &Path,
    parked: &Parked,
    print: &Print,
) -> Result<bool, Trouble> {
    let Some(at) = hands.at_if_any(to)? else { return Ok(false) };
    if let Some(park) = hands.park_if_any(parked)?
        && hands.look(park.spot(), to)?.is_some()
    {
        return has_two_names(hands, &park, &at);
    }
    // It has left the park: by the put, or it was never taken.
    let there = read(hands, at.spot(), to)?;
    Ok(there.is_some_and(|there| is_same_file(&there, print) || there.sha256 == print.sha256))
}
