//! Finishes or reverses interrupted actions.
//!
//! An intent without an outcome was interrupted, and the places of its files show how far it got. A file that was only
//! taken is put back, because it is unknown whether it was looked at; a file that was already put at its destination
//! stays there. Doing this twice changes nothing.

mod exchange;
mod leftovers;
mod take;

use std::path::Path;

use self::exchange::unexchange;
use self::leftovers::{GONE, expect_here, is_still, read};
use self::take::finish_put;
use self::take::untake;
use crate::act::error::ActionError;
use crate::act::execute::entire_lock;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::{Files, shown};
use crate::act::rows::update::RowUpdate;
use crate::act::stop;
use crate::core::history::journal::{Entry, Outcome};
use crate::core::history::movement::{Movement, ParkLocation, is_taken};
use crate::core::model::EndResult;

/// Puts right what an entry without an outcome has left, and returns its outcome; `None` while that is unknown.
///
/// # Errors
/// The disk refuses; the entry stays open, and the next lock tries again.
pub(crate) fn recover<D: Disk>(files: &Files<'_, D>, entry: &Entry) -> Result<Option<Outcome>, ActionError> {
    let movements = &entry.intent.movements;
    if let [Movement::Stop { processes, .. }] = movements.as_slice() {
        return Ok(Some(stop::found(files.processes, processes)));
    }
    match rows_of(movements) {
        Some(update) => update.found(files),
        None => {
            // The lock of the program that also writes these files is taken, as before an action.
            let _lock = entire_lock::lock_of_any(files, movements.iter().filter_map(Movement::path))?;
            put_right(files, movements).map(Some)
        }
    }
}

/// Returns an entry's change of rows, which is then its only movement.
fn rows_of(movements: &[Movement]) -> Option<RowUpdate<'_>> {
    movements.iter().find_map(RowUpdate::from_movement)
}

fn put_right<D: Disk>(files: &Files<'_, D>, movements: &[Movement]) -> Result<Outcome, ActionError> {
    let mut notes = Vec::new();
    let mut missed = Vec::new();
    let mut is_done = false;
    for movement in movements.iter().rev() {
        match movement {
            // The movement after a put was done, so everything before it was done as well.
            _ if is_done => {}
            Movement::Take { from, parked, print } => {
                notes.extend(note_refusal(untake(files, from, parked, print))?)
            }
            Movement::Put { parked, to, print, touched_at } => {
                is_done = match finish_put(files, to, parked, print) {
                    Err(ActionError::Never(note)) => {
                        notes.push(note);
                        false
                    }
                    done => done?,
                };
                if !is_done {
                    let is_parked = is_parked(files, to, parked)?;
                    let stays = match is_parked {
                        true => format!("it stays parked as {}", parked.text()),
                        false => "it is not parked any more".to_owned(),
                    };
                    missed.push(format!("{} was not put back: {stays}", shown(to)));
                    if !is_parked && !is_taken(movements, parked) {
                        note_refusal(expect_here(files, to, parked, print).map(|()| None))?;
                    }
                }
                if let Some(touched_at) = touched_at.filter(|_| is_done) {
                    let at = files.entry(to)?;
                    // A file that another program has written since keeps its own time.
                    if read(files, at.spot(), to)?.is_some_and(|there| there.sha256 == print.sha256) {
                        files
                            .disk
                            .touch(at.spot(), touched_at)
                            .map_err(ActionError::failed_at("date", to))?;
                    }
                }
            }
            // Rows are read back before, and ended processes are counted.
            Movement::Rows { .. } | Movement::Stop { .. } => {}
            Movement::Exchange { path, parked, print, new_sha256 } => {
                notes.extend(note_refusal(unexchange(files, path, parked, print, new_sha256))?);
            }
        }
    }
    let detail = |text: &str| {
        let all: Vec<&str> = std::iter::once(text).chain(notes.iter().map(String::as_str)).collect();
        all.join("; ")
    };
    // Each put of an undo brings back another file: a later one that is not done is not done.
    Ok(if is_done && !missed.is_empty() {
        let part = format!("it was interrupted, and only part of it is done; {}", missed.join("; "));
        Outcome::new(EndResult::Stuck, detail(&part))
    } else if is_done {
        Outcome::new(EndResult::Done, detail("it was interrupted, and is done"))
    } else if notes.is_empty() {
        let gone = movements
            .iter()
            .map(|movement| gone(files, movements, movement))
            .collect::<Result<Vec<_>, _>>()?;
        let gone = gone.into_iter().flatten().next();
        let where_it_is = gone.unwrap_or_else(|| "everything is where it was".to_owned());
        Outcome::new(EndResult::Failed, format!("it was interrupted; {where_it_is}"))
    } else {
        Outcome::new(EndResult::Stuck, detail("it was interrupted"))
    })
}

/// Returns whether a file is parked; a file that must never be touched is not.
fn is_parked<D: Disk>(files: &Files<'_, D>, path: &Path, parked: &ParkLocation) -> Result<bool, ActionError> {
    match files.is_parked(parked, path) {
        Err(ActionError::Never(_)) => Ok(false),
        found => found,
    }
}

/// Returns the error that a movement's file is neither in its place nor parked: another program has written or removed
/// it.
fn gone<D: Disk>(
    files: &Files<'_, D>,
    movements: &[Movement],
    movement: &Movement,
) -> Result<Option<String>, ActionError> {
    let (path, parked, print) = match movement {
        Movement::Take { from: path, parked, print } | Movement::Exchange { path, parked, print, .. } => {
            (path, parked, print)
        }
        Movement::Put { to, parked, print, .. } if !is_taken(movements, parked) => (to, parked, print),
        Movement::Put { .. } | Movement::Rows { .. } | Movement::Stop { .. } => return Ok(None),
    };
    if is_parked(files, path, parked)? {
        return Ok(None);
    }
    let there = match files.at_if_any(path)? {
        Some(at) => read(files, at.spot(), path)?,
        None => None,
    };
    let says = match there {
        Some(there) if is_still(&there, print) => return Ok(None),
        Some(_) => "has been rewritten since",
        None => GONE,
    };
    Ok(Some(format!("{} {says}, and no part of it is parked", shown(path))))
}

/// Turns a refusal of a file that must never be touched into a note: it must not prevent other entries from being put
/// right.
fn note_refusal(note: Result<Option<String>, ActionError>) -> Result<Option<String>, ActionError> {
    match note {
        Err(ActionError::Never(why)) => Ok(Some(why)),
        note => note,
    }
}

#[cfg(test)]
mod tests;
