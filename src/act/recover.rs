//! Puts right what was cut off in the middle.
//!
//! An intent without an outcome was cut off, and what lies where says how far it came. What was
//! only taken is put back, for nobody knows whether it was looked at; what was already put where
//! it was meant to go stays there. Doing this twice changes nothing.

use std::ffi::OsStr;
use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use super::disk::{Disk, Side};
use super::lock::Lock;
use super::movement::{Hands, aside, print_of, shown};
use super::trouble::Trouble;
use crate::core::file::Content;
use crate::core::journal::{Ended, Movement, Outcome, Print};

/// Finishes every entry that has no outcome.
///
/// # Errors
/// The disk refuses; the entry stays open, and the next lock tries again.
pub(super) fn recover<D: Disk>(lock: &mut Lock<'_, D>, now: Timestamp) -> Result<(), Trouble> {
    let open: Vec<_> = lock.history.entries.iter().filter(|entry| entry.outcome.is_none()).cloned().collect();
    for entry in open {
        let outcome = put_right(&lock.hands(), &entry.intent.movements)?;
        lock.finish(entry.number, outcome, now)?;
    }
    Ok(())
}

fn put_right<D: Disk>(hands: &Hands<'_, D>, movements: &[Movement]) -> Result<Outcome, Trouble> {
    let mut notes = Vec::new();
    let mut is_done = false;
    for movement in movements.iter().rev() {
        match movement {
            // What follows a put was done, so what came before it was done as well.
            _ if is_done => {}
            Movement::Take { from, parked, print } => notes.extend(untake(hands, from, parked, print)?),
            Movement::Put { parked, to, print, touched_at } => {
                is_done = finish_put(hands, to, parked, print)?;
                if let Some(touched_at) = touched_at.filter(|_| is_done) {
                    let at = hands.at(to)?;
                    hands.disk.touch(at.spot(), touched_at).map_err(Trouble::at("date", to))?;
                }
            }
            Movement::Exchange { path, parked, print, new_sha256 } => {
                notes.extend(unexchange(hands, path, parked, print, new_sha256)?);
            }
        }
    }
    let detail =
        |text: &str| std::iter::once(text.to_owned()).chain(notes.iter().cloned()).collect::<Vec<_>>();
    Ok(if is_done {
        Outcome { ended: Ended::Done, detail: detail("it was cut off, and is done").join("; ") }
    } else if notes.is_empty() {
        Outcome { ended: Ended::Failed, detail: "it was cut off; everything is where it was".to_owned() }
    } else {
        Outcome { ended: Ended::Stuck, detail: detail("it was cut off").join("; ") }
    })
}

/// Puts back what was taken; a note when something else lies in its place by now.
fn untake<D: Disk>(
    hands: &Hands<'_, D>,
    from: &Path,
    parked: &str,
    print: &Print,
) -> Result<Option<String>, Trouble> {
    let own = aside(parked);
    let Some(at) = folder_of(hands, from)? else { return Ok(None) };
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
    match hands.disk.rename_new(hands.in_park(parked), at.spot(), Side::Public) {
        Err(Errno::XDEV) => {
            let print = hands.current(parked, print)?;
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
    beside: super::disk::Spot<'_, D::Folder>,
    at: &super::movement::At<D::Folder>,
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

/// Returns whether a put was done, and finishes one that was.
fn finish_put<D: Disk>(
    hands: &Hands<'_, D>,
    to: &Path,
    parked: &str,
    print: &Print,
) -> Result<bool, Trouble> {
    let Some(at) = folder_of(hands, to)? else { return Ok(false) };
    let own = aside(parked);
    let beside = (&at.folder, OsStr::new(&own));
    if hands.look(hands.in_park(parked), to)?.is_none() {
        // It has left the park: by the put, or it was never taken.
        return Ok(hands.has_content(at.spot(), &print.sha256));
    }
    // A copy on its way, or a part of one, is worth nothing while the file is parked; what says
    // anything else is a stranger's file and stays.
    if is_begun_copy(hands, beside, parked)? {
        hands.disk.remove(beside).map_err(Trouble::at("remove the copy of", to))?;
    }
    let there = hands.look(at.spot(), to)?.and_then(|image| print_of(&image));
    if there.is_some_and(|there| there.sha256 == print.sha256) {
        remove(hands, parked)?;
        return Ok(true);
    }
    Ok(false)
}

/// Returns whether a file holds the beginning of a parked one, or all of it.
fn is_begun_copy<D: Disk>(
    hands: &Hands<'_, D>,
    beside: super::disk::Spot<'_, D::Folder>,
    parked: &str,
) -> Result<bool, Trouble> {
    let path = hands.park_path(parked);
    let (copy, whole) = (hands.look(beside, &path)?, hands.look(hands.in_park(parked), &path)?);
    Ok(match (copy.map(|image| image.content), whole.map(|image| image.content)) {
        (Some(Content::Bytes(copy)), Some(Content::Bytes(whole))) => whole.starts_with(&copy),
        _ => false,
    })
}

/// Undoes an exchange that was cut off.
fn unexchange<D: Disk>(
    hands: &Hands<'_, D>,
    path: &Path,
    parked: &str,
    print: &Print,
    new_sha256: &str,
) -> Result<Option<String>, Trouble> {
    let Some(at) = folder_of(hands, path)? else { return Ok(None) };
    let own = aside(parked);
    let beside = (&at.folder, OsStr::new(&own));
    let is_new = hands.has_content(at.spot(), new_sha256);
    let Some(lies_beside) = hands.look(beside, path)? else {
        return if is_new && hands.look(hands.in_park(parked), path)?.is_some() {
            let movement = Movement::Exchange {
                path: path.to_path_buf(),
                parked: parked.to_owned(),
                print: print.clone(),
                new_sha256: new_sha256.to_owned(),
            };
            hands.reverse(&movement).map(|()| None)
        } else {
            Ok(None)
        };
    };
    remove(hands, parked)?;
    let beside_print = print_of(&lies_beside);
    let is_old_beside =
        beside_print.as_ref().is_some_and(|there| there.ino == print.ino || there.sha256 != new_sha256);
    if is_new && is_old_beside {
        hands.disk.exchange(&at.folder, at.name(), beside.1).map_err(Trouble::at("exchange", path))?;
        hands.disk.remove(beside).map_err(Trouble::at("remove the new content of", path))?;
        return Ok(None);
    }
    let is_original_in_place = hands
        .look(at.spot(), path)?
        .and_then(|image| print_of(&image))
        .is_some_and(|there| there.ino == print.ino && there.dev == print.dev);
    if is_original_in_place || !is_old_beside {
        // What lies beside is the new content, or a part of it, and was never in use.
        hands.disk.remove(beside).map_err(Trouble::at("remove the new content of", path))?;
        return Ok(None);
    }
    Ok(Some(format!("{} was written meanwhile, the older content lies beside it as {own}", shown(path))))
}

/// Opens the folder of a path; `None` when it has gone.
fn folder_of<D: Disk>(
    hands: &Hands<'_, D>,
    path: &Path,
) -> Result<Option<super::movement::At<D::Folder>>, Trouble> {
    match hands.at(path) {
        Ok(at) => Ok(Some(at)),
        Err(Trouble::Failed { errno: Errno::NOENT, .. }) => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

/// Removes a copy from the park; none is fine.
fn remove<D: Disk>(hands: &Hands<'_, D>, parked: &str) -> Result<(), Trouble> {
    match hands.disk.remove(hands.in_park(parked)) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(Trouble::at("remove", &hands.park_path(parked))(errno)),
    }
}
