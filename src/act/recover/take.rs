//! Putting back what a movement that was cut off had only taken.

use std::path::Path;

use rustix::io::Errno;

use super::{GONE, has_two_names, parked_note};
use crate::act::disk::{Disk, Side};
use crate::act::movement::{Hands, shown};
use crate::act::trouble::Trouble;
use crate::core::history::journal::Parked;

/// Puts back what was taken; a note when something else lies in its place by now.
pub(super) fn untake<D: Disk>(
    hands: &Hands<'_, D>,
    from: &Path,
    parked: &Parked,
) -> Result<Option<String>, Trouble> {
    let Some(park) = hands.park_if_any(parked)? else { return Ok(None) };
    if hands.look(park.spot(), from)?.is_none() {
        return Ok(None);
    }
    let Some(at) = hands.at_if_any(from)? else { return parked_note(hands, from, parked, GONE) };
    match hands.disk.rename_new(park.spot(), at.spot(), Side::Public) {
        Err(Errno::EXIST) if has_two_names(hands, &park, &at)? => Ok(None),
        Err(Errno::EXIST) => Ok(Some(format!(
            "a newer file is at {}, the older stays parked as {}",
            shown(from),
            shown(&park.path)
        ))),
        Err(Errno::XDEV) => parked_note(hands, from, parked, "is on another file system by now"),
        done => done.map(|()| None).map_err(Trouble::at("put back", from)),
    }
}
