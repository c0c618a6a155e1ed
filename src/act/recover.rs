//! Puts right what was cut off in the middle.
//!
//! An intent without an outcome was cut off, and what lies where says how far it came. What was
//! only taken is put back, for nobody knows whether it was looked at; what was already put where
//! it was meant to go stays there. Doing this twice changes nothing.

use std::ffi::OsStr;
use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use super::change::Change;
use super::disk::{Disk, Side, Spot};
use super::lock::Lock;
use super::movement::{At, Hands, aside, back_name, print_of, shown};
use super::trouble::Trouble;
use crate::core::file::Content;
use crate::core::journal::{Ended, Entry, Movement, Outcome, Print};

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
            Movement::Take { from, parked, print } => notes.extend(untake(hands, from, parked, print)?),
            Movement::Put { parked, to, print, touched_at } => {
                is_done = finish_put(hands, to, parked, print)?;
                if let Some(touched_at) = touched_at.filter(|_| is_done) {
                    let at = hands.at(to)?;
                    hands.disk.touch(at.spot(), touched_at).map_err(Trouble::at("date", to))?;
                }
            }
            // Rows are read back before.
            Movement::Rows { .. } => {}
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
    let Some(at) = folder_of(hands, from)? else { return parked_note(hands, from, parked, GONE) };
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

/// Says where the older content stays, since its place is not what it was, and how to have it back:
/// an entry that was not done cannot be undone. Nothing when it is not parked.
fn parked_note<D: Disk>(
    hands: &Hands<'_, D>,
    path: &Path,
    parked: &str,
    since: &str,
) -> Result<Option<String>, Trouble> {
    let is_parked = hands.look(hands.in_park(parked), path)?.is_some();
    Ok(is_parked.then(|| {
        let stays = hands.park_path(parked);
        format!(
            "{} {since}, the older content stays parked: copy it back from {}",
            shown(path),
            shown(&stays)
        )
    }))
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
        return Ok(read(hands, at.spot(), to)?.is_some_and(|there| there.sha256 == print.sha256));
    }
    remove_begun_copy(hands, beside, parked, to)?;
    if read(hands, at.spot(), to)?.is_some_and(|there| there.sha256 == print.sha256) {
        remove(hands, parked)?;
        return Ok(true);
    }
    Ok(false)
}

/// Removes a copy of a parked file that is on its way, or a part of one: it is worth nothing
/// while the file is parked. What says anything else is a stranger's file and stays.
fn remove_begun_copy<D: Disk>(
    hands: &Hands<'_, D>,
    beside: Spot<'_, D::Folder>,
    parked: &str,
    path: &Path,
) -> Result<(), Trouble> {
    if is_begun_copy(hands, beside, hands.in_park(parked), path)? {
        hands.disk.remove(beside).map_err(Trouble::at("remove the copy of", path))?;
    }
    Ok(())
}

/// Returns whether a file holds the beginning of another one, or all of it.
fn is_begun_copy<D: Disk>(
    hands: &Hands<'_, D>,
    copy: Spot<'_, D::Folder>,
    whole: Spot<'_, D::Folder>,
    path: &Path,
) -> Result<bool, Trouble> {
    let (copy, whole) = (hands.look(copy, path)?, hands.look(whole, path)?);
    Ok(match (copy.map(|image| image.content), whole.map(|image| image.content)) {
        (Some(Content::Bytes(copy)), Some(Content::Bytes(whole))) => whole.starts_with(&copy),
        _ => false,
    })
}

/// Undoes an exchange that was cut off; a note when somebody has written meanwhile.
fn unexchange<D: Disk>(
    hands: &Hands<'_, D>,
    path: &Path,
    parked: &str,
    print: &Print,
    new_sha256: &str,
) -> Result<Option<String>, Trouble> {
    let Some(at) = folder_of(hands, path)? else { return parked_note(hands, path, parked, GONE) };
    let own = aside(parked);
    let beside = (&at.folder, OsStr::new(&own));
    if let Some(ended) = unback(hands, &at, parked, new_sha256)? {
        return Ok(ended);
    }
    let there = read(hands, at.spot(), path)?;
    let lies_beside = read(hands, beside, path)?;
    if lies_beside.is_none_or(|lies| !is_same_file(&lies, print)) {
        // A recovery that was cut off itself may have begun to copy the old content back.
        remove_begun_copy(hands, beside, parked, path)?;
    }
    let Some(lies_beside) = read(hands, beside, path)? else {
        if there.as_ref().is_some_and(|there| is_original(there, print)) {
            remove(hands, parked)?;
            return Ok(None);
        }
        let since = match there {
            None => Some(GONE),
            Some(there) => (there.sha256 != new_sha256).then_some("was written meanwhile"),
        };
        if let Some(since) = since {
            return parked_note(hands, path, parked, since);
        }
        if read(hands, hands.in_park(parked), path)?.is_none() {
            return Ok(None);
        }
        let exchange = Movement::Exchange {
            path: path.to_path_buf(),
            parked: parked.to_owned(),
            print: print.clone(),
            new_sha256: new_sha256.to_owned(),
        };
        return hands.reverse(&exchange).map(|()| None);
    };
    if is_same_file(&lies_beside, print) {
        // The copy in the park is worth nothing while the old content itself is here.
        remove(hands, parked)?;
        return swap_back(hands, &at, beside, new_sha256);
    }
    if there.as_ref().is_some_and(|there| is_same_file(there, print)) || lies_beside.sha256 == new_sha256 {
        // What lies beside is the new content, or a part of it, and is not in use.
        hands.disk.remove(beside).map_err(Trouble::at("remove the new content of", path))?;
        return Ok(None);
    }
    Ok(Some(written_note(path, &own)))
}

/// Returns whether it is the very file that was meant, whatever it says by now.
fn is_same_file(lies: &Print, print: &Print) -> bool {
    (lies.dev, lies.ino) == (print.dev, print.ino)
}

/// Returns whether it is the very file that was meant, as it was.
fn is_original(lies: &Print, print: &Print) -> bool {
    is_same_file(lies, print) && lies.sha256 == print.sha256
}

/// Finishes what an earlier recovery began: it had put the old content beside under a name of
/// its own, to exchange the two. `None` when it had not come so far.
fn unback<D: Disk>(
    hands: &Hands<'_, D>,
    at: &At<D::Folder>,
    parked: &str,
    new_sha256: &str,
) -> Result<Option<Option<String>>, Trouble> {
    let own = back_name(parked);
    let back = (&at.folder, OsStr::new(&own));
    let Some(lies) = read(hands, back, &at.path)? else { return Ok(None) };
    if lies.sha256 == new_sha256 {
        hands.disk.remove(back).map_err(Trouble::at("remove the new content of", &at.path))?;
        return Ok(Some(None));
    }
    let in_park = read(hands, hands.in_park(parked), &at.path)?;
    if in_park.is_some_and(|in_park| in_park.sha256 == lies.sha256) {
        hands.disk.remove(back).map_err(Trouble::at("remove the copy of", &at.path))?;
        return Ok(None);
    }
    swap_back(hands, at, back, new_sha256).map(Some)
}

/// Exchanges the old content back into its place.
fn swap_back<D: Disk>(
    hands: &Hands<'_, D>,
    at: &At<D::Folder>,
    beside: Spot<'_, D::Folder>,
    new_sha256: &str,
) -> Result<Option<String>, Trouble> {
    match hands.swap(at, beside, new_sha256) {
        Ok(()) => {
            hands.disk.remove(beside).map_err(Trouble::at("remove the new content of", &at.path))?;
            Ok(None)
        }
        Err(Errno::EXIST) => Ok(Some(written_note(&at.path, &beside.1.to_string_lossy()))),
        Err(errno) => Err(Trouble::at("exchange", &at.path)(errno)),
    }
}

fn written_note(path: &Path, own: &str) -> String {
    format!("{} was written meanwhile, the older content lies beside it as {own}", shown(path))
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

/// Opens the folder of a path; `None` when it has gone.
fn folder_of<D: Disk>(hands: &Hands<'_, D>, path: &Path) -> Result<Option<At<D::Folder>>, Trouble> {
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

#[cfg(test)]
mod tests;
