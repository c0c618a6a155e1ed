//! Putting back what a movement that was cut off had only taken.

use std::ffi::OsStr;
use std::path::Path;

use rustix::io::Errno;

use super::{GONE, is_begun_copy, is_original, parked_note, read, remove, remove_begun_copy};
use crate::act::disk::{Disk, Side, Spot};
use crate::act::movement::{At, Hands, aside, shown};
use crate::act::trouble::Trouble;
use crate::core::journal::Print;

/// Puts back what was taken; a note when something else lies in its place by now.
pub(super) fn untake<D: Disk>(
    hands: &Hands<'_, D>,
    from: &Path,
    parked: &str,
    print: &Print,
) -> Result<Option<String>, Trouble> {
    let own = aside(parked);
    let Some(at) = hands.at_if_any(from)? else { return parked_note(hands, from, parked, GONE) };
    let beside = (&at.folder, OsStr::new(&own));
    let lies_beside = hands.look(beside, from)?.and_then(|image| image.meta);
    // Anybody may have made a file of that name; ours has the inode of what was meant.
    if lies_beside.is_some_and(|meta| (meta.dev, meta.ino) == (print.dev, print.ino)) {
        // The copy in the park is worth nothing while the file itself is here.
        remove(hands, parked)?;
        return back(hands, beside, &at, from);
    }
    if hands.look(hands.in_park(parked), from)?.is_none() {
        return Ok(None);
    }
    remove_begun_copy(hands, beside, parked, from)?;
    let there = read(hands, at.spot(), from)?;
    let is_back = there.is_some_and(|there| is_original(&there, print) || there.is_copied_by(print));
    if is_back && is_begun_copy(hands, hands.in_park(parked), at.spot(), from)? {
        // It is back in its place, itself or as a copy, and only the parked one was left over.
        remove(hands, parked)?;
        return Ok(None);
    }
    match hands.disk.rename_new(hands.in_park(parked), at.spot(), Side::Public) {
        Err(Errno::XDEV) => {
            let Some(print) = read(hands, hands.in_park(parked), from)?.filter(|own| own.is_copied_by(print))
            else {
                return Ok(Some(format!(
                    "a copy of {} that is not whole is parked as {parked}",
                    shown(from)
                )));
            };
            match hands.put(parked, from, &print, None) {
                Err(Trouble::Taken(_)) => Ok(Some(taken_note(from, parked))),
                put => put.map(|()| None),
            }
        }
        Err(Errno::EXIST) => Ok(Some(taken_note(from, parked))),
        done => done.map(|()| None).map_err(Trouble::at("put back", from)),
    }
}

fn back<D: Disk>(
    hands: &Hands<'_, D>,
    beside: Spot<'_, D::Folder>,
    at: &At<D::Folder>,
    from: &Path,
) -> Result<Option<String>, Trouble> {
    match hands.disk.rename_new(beside, at.spot(), Side::Public) {
        Ok(()) => Ok(None),
        Err(Errno::EXIST) => {
            let note = format!(
                "a newer file is at {}, the older lies beside it as {}",
                shown(from),
                beside.1.display()
            );
            Ok(Some(note))
        }
        Err(errno) => Err(Trouble::at("put back", from)(errno)),
    }
}

fn taken_note(from: &Path, parked: &str) -> String {
    format!("a newer file is at {}, the older stays parked as {parked}", shown(from))
}
