//! Puts right what was cut off in the middle.
//!
//! An intent without an outcome was cut off, and what lies where says how far it came. What was
//! only taken is put back, for nobody knows whether it was looked at; what was already put where
//! it was meant to go stays there. Doing this twice changes nothing.

mod exchange;
mod put;
mod take;

use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use self::exchange::unexchange;
use self::put::finish_put;
use self::take::untake;
use super::change::Change;
use super::disk::{Disk, Spot};
use super::lock::Lock;
use super::movement::{At, Hands, print_of, shown};
use super::trouble::Trouble;
use crate::core::history::journal::{Entry, Movement, Outcome, Parked, Print};
use crate::core::model::action::Ended;
use crate::core::model::file::{Content, FileImage};

/// What is said of a place where nothing lies any more.
const GONE: &str = "has gone";

/// Finishes every entry that has no outcome.
///
/// # Errors
/// The disk refuses; the entry stays open, and the next lock tries again.
pub(super) fn recover<D: Disk>(lock: &mut Lock<'_, D>, now: Timestamp) -> Result<(), Trouble> {
    let open: Vec<_> = lock.history.entries.iter().filter(|entry| is_open(entry)).cloned().collect();
    for entry in open {
        let movements = &entry.intent.movements;
        let outcome = match rows_of(movements) {
            Some(change) => change.found(&lock.hands())?,
            None => Some(put_right(&lock.hands(), movements)?),
        };
        if let Some(outcome) = outcome {
            lock.finish(entry.number, outcome, now)?;
        }
    }
    Ok(())
}

/// Returns whether nobody knows yet how an entry ended.
fn is_open(entry: &Entry) -> bool {
    entry.outcome.as_ref().is_none_or(|outcome| outcome.ended == Ended::Unknown)
}

/// Returns the change of rows that an entry is; it has no other movement.
fn rows_of(movements: &[Movement]) -> Option<Change<'_>> {
    movements.iter().find_map(Change::of)
}

fn put_right<D: Disk>(hands: &Hands<'_, D>, movements: &[Movement]) -> Result<Outcome, Trouble> {
    let mut notes = Vec::new();
    let mut is_done = false;
    for movement in movements.iter().rev() {
        match movement {
            // What follows a put was done, so what came before it was done as well.
            _ if is_done => {}
            Movement::Take { from, parked, .. } => notes.extend(told(untake(hands, from, parked))?),
            Movement::Put { parked, to, print, touched_at } => {
                is_done = match finish_put(hands, to, parked, print) {
                    Err(Trouble::Never(note)) => {
                        notes.push(note);
                        false
                    }
                    done => done?,
                };
                if let Some(touched_at) = touched_at.filter(|_| is_done) {
                    let at = hands.at(to)?;
                    hands.disk.touch(at.spot(), touched_at).map_err(Trouble::at("date", to))?;
                }
            }
            // Rows are read back before.
            Movement::Rows { .. } => {}
            Movement::Exchange { path, parked, print, new_sha256 } => {
                notes.extend(told(unexchange(hands, path, parked, print, new_sha256))?);
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

/// Notes what is never touched, whatever the journal says: it must not keep anything else from
/// being put right.
fn told(note: Result<Option<String>, Trouble>) -> Result<Option<String>, Trouble> {
    match note {
        Err(Trouble::Never(why)) => Ok(Some(why)),
        note => note,
    }
}

/// Says where the older content stays, since its place is not what it was, and how to have it back:
/// an entry that was not done cannot be undone. Nothing when it is not parked.
fn parked_note<D: Disk>(
    hands: &Hands<'_, D>,
    path: &Path,
    parked: &Parked,
    since: &str,
) -> Result<Option<String>, Trouble> {
    let Some(park) = hands.park_if_any(parked)? else { return Ok(None) };
    let is_parked = hands.look(park.spot(), path)?.is_some();
    Ok(is_parked.then(|| {
        format!(
            "{} {since}, the older content stays parked: copy it back from {}",
            shown(path),
            shown(&park.path)
        )
    }))
}

/// Returns whether a parked file lies in its place as well, under a second name, and removes the
/// parked one then: where the kernel cannot rename without clobbering, a file is linked first.
fn has_two_names<D: Disk>(
    hands: &Hands<'_, D>,
    park: &At<D::Folder>,
    at: &At<D::Folder>,
) -> Result<bool, Trouble> {
    let id = |image: FileImage| image.meta.map(|meta| (meta.dev, meta.ino));
    let parked = hands.look(park.spot(), &park.path)?.and_then(id);
    if parked.is_none() || parked != hands.look(at.spot(), &at.path)?.and_then(id) {
        return Ok(false);
    }
    hands.disk.remove(park.spot()).map_err(Trouble::at("remove the second name of", &at.path))?;
    Ok(true)
}

/// Returns whether it is the very file that was meant, whatever it says by now.
fn is_same_file(lies: &Print, print: &Print) -> bool {
    (lies.dev, lies.ino) == (print.dev, print.ino)
}

/// Reads what lies somewhere. What cannot be read must not be taken for anything else.
fn read<D: Disk>(
    hands: &Hands<'_, D>,
    spot: Spot<'_, D::Folder>,
    path: &Path,
) -> Result<Option<Print>, Trouble> {
    let Some(image) = hands.look(spot, path)? else { return Ok(None) };
    match &image.content {
        Content::Bytes(_) => Ok(print_of(&image)),
        Content::Failed(_) => Err(Trouble::at("read", path)(Errno::IO)),
        // A link, a folder and the like is none of ours.
        Content::Refused(_) => Ok(Some(Print {
            dev: 0,
            ino: 0,
            size: 0,
            mode: 0,
            modified_at: Timestamp::UNIX_EPOCH,
            sha256: String::new(),
        })),
    }
}

#[cfg(test)]
mod tests;
