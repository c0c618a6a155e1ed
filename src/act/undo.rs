//! Takes a journal entry back, through the same steps.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::act::error::ActionError;
use crate::act::execute::entire_lock;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::{Files, cut, shown};
use crate::act::fs::park::ParkPlace;
use crate::act::fs::print::print_of;
use crate::act::fs::put::far;
use crate::act::preflight::prepared::{NewTime, PreparedStep, RowTarget};
use crate::act::state::journal_store::Lock;
use crate::core::history::journal::{Entry, NOT_BACK, NOT_CLOSED};
use crate::core::history::movement::{Movement, ParkLocation, Print};
use crate::core::model::report::need;
use crate::core::model::snapshot::row::is_in;
use crate::core::model::text::shown_span;
use crate::core::model::{Action, Confirmation, FileImage, Format, Key, Plan, RestoreTo, RowChange, Step};

/// The most versions of a file that are restored beside it.
const MOST_BESIDE: u32 = 100;

/// Plans to take an entry back.
pub(crate) fn plan<D: Disk>(
    lock: &Lock<'_, D>,
    number: u64,
    restore_to: RestoreTo,
    now: Timestamp,
) -> Result<(Plan, Vec<PreparedStep>), ActionError> {
    let entry = lock.history.entry(number);
    let entry = entry.ok_or_else(|| ActionError::Never(format!("the journal has no entry {number}")))?;
    if let Some(order) = entry.intent.asked_of() {
        let machine = shown(Path::new(&order.machine));
        return Err(ActionError::Never(format!("entry {number} was done on {machine}: undo it there")));
    }
    if let Some((_, error)) = lock.unsettled.iter().find(|(entry, _)| *entry == number) {
        let why = format!("entry {number} was interrupted, and cannot be repaired now: {error}");
        return Err(ActionError::Never(why));
    }
    if entry.undone_by.is_some() && lock.history.followers(number).next().is_some() {
        let mut plan = shown_plan(entry, &[], now);
        plan.why = vec!["it is undone, but not all of what followed it".to_owned()];
        return Ok((plan, Vec::new()));
    }
    let is_back_in_park = entry.came_to_nothing() && has_parked(&lock.files(), entry)?;
    if !(entry.can_be_undone() || is_back_in_park) {
        return Err(ActionError::Never(format!("entry {number} cannot be undone: {}", why_not(entry))));
    }
    if !lock.history.holds_anything(entry) {
        return Err(ActionError::Never(format!("nothing of entry {number} is left to undo")));
    }
    if entry.is_stuck() || is_back_in_park {
        return left(lock, entry, restore_to, now);
    }
    let files = lock.files_of(entry.intent.leads.clone());
    let (mut prepared, mut late) = (Vec::new(), Vec::new());
    let mut movements = entry.intent.movements.iter().rev().peekable();
    while let Some(movement) = movements.next() {
        match movement {
            // An interrupted undo has brought it back.
            Movement::Take { parked, from, .. } if is_back(&files, entry, parked, from)? => {
                late.push(format!("{} is not parked any more", shown(from)));
            }
            Movement::Take { from, parked, print } => {
                let to =
                    free(&files, from, restore_to).map_err(|error| by_hand(&files, parked, from, error))?;
                prepared.push(restore(&files, (parked, print, Some(entry.at)), to, &mut late)?);
            }
            Movement::Put { to, parked, print, .. } => {
                let (there, park) =
                    content_of(&files, to, &print.sha256).map_err(|error| hinted(entry, error))?;
                let is_its = |before: &&Movement| matches!(before, Movement::Take { parked: own, .. } if own == parked);
                // A file that was put was taken by the movement before it, or was new.
                let Some(Movement::Take { from, .. }) = movements.next_if(is_its) else {
                    prepared.push(PreparedStep::Park { path: to.clone(), print: there, place: park });
                    continue;
                };
                let (path, free) = (to.clone(), free(&files, from, restore_to)?);
                let modified_at = NewTime::FileRef(print.modified_at);
                prepared.push(PreparedStep::Move { path, print: there, place: park, to: free, modified_at });
            }
            Movement::Exchange { path, parked, print, new_sha256 } => {
                let to = match (content_of(&files, path, new_sha256), restore_to) {
                    // Its session has ended meanwhile, and been removed.
                    _ if is_free(&files, path)? => path.clone(),
                    (Ok((there, park)), _) => {
                        prepared.push(PreparedStep::Park { path: path.clone(), print: there, place: park });
                        path.clone()
                    }
                    // A file that another program has written since stays, and the old one goes beside it.
                    (Err(ActionError::Never(_)), RestoreTo::Beside) => free(&files, path, restore_to)?,
                    (Err(ActionError::Never(why)), RestoreTo::Origin) => {
                        let beside = "the previous content can be restored beside it (--beside)";
                        return Err(ActionError::Taken(format!("{why}; {beside}{}", instead(entry))));
                    }
                    (Err(error), _) => return Err(error),
                };
                prepared.push(restore(&files, (parked, print, Some(entry.at)), to, &mut late)?);
            }
            Movement::Rows { format, database, changes, .. } => {
                for change in changes {
                    prepared.push(row_back(&files, *format, database, change)?);
                }
            }
            Movement::Stop { .. } => return Err(ActionError::Never(NOT_BACK.to_owned())),
        }
    }
    if prepared.is_empty() && !late.is_empty() {
        return Err(ActionError::Never(format!("nothing of entry {} is parked any more", entry.number)));
    }
    let mut plan = shown_plan(entry, &prepared, now);
    plan.why.extend(late);
    Ok((plan, prepared))
}

/// Returns whether any file that an entry took is parked.
fn has_parked<D: Disk>(files: &Files<'_, D>, entry: &Entry) -> Result<bool, ActionError> {
    let taken = |movement: &Movement| match movement {
        Movement::Take { from: path, parked, .. } | Movement::Exchange { path, parked, .. } => {
            files.is_parked(parked, path)
        }
        Movement::Put { .. } | Movement::Rows { .. } | Movement::Stop { .. } => Ok(false),
    };
    entry.intent.movements.iter().try_fold(false, |found, movement| Ok(found || taken(movement)?))
}

/// Returns whether one of several files that an entry has taken is back in its place and no longer parked.
fn is_back<D: Disk>(
    files: &Files<'_, D>,
    entry: &Entry,
    parked: &ParkLocation,
    from: &Path,
) -> Result<bool, ActionError> {
    if entry.intent.movements.len() < 2 || files.is_parked(parked, from)? {
        return Ok(false);
    }
    Ok(!is_free(files, from)?)
}

/// Plans to bring back what a stuck entry has left parked.
fn left<D: Disk>(
    lock: &Lock<'_, D>,
    entry: &Entry,
    restore_to: RestoreTo,
    now: Timestamp,
) -> Result<(Plan, Vec<PreparedStep>), ActionError> {
    let files = lock.files_of(entry.intent.leads.clone());
    let (mut prepared, mut late) = (Vec::new(), Vec::new());
    for movement in entry.intent.movements.iter().rev() {
        let (Movement::Take { from: path, parked, print } | Movement::Exchange { path, parked, print, .. }) =
            movement
        else {
            continue;
        };
        if files.is_parked(parked, path)? {
            let to = free(&files, path, restore_to).map_err(|error| by_hand(&files, parked, path, error))?;
            // The taken file may have been another one than intended, which is why it got stuck.
            prepared.push(restore(&files, (parked, print, None), to, &mut late)?);
        }
    }
    if prepared.is_empty() {
        return Err(ActionError::Never(format!("nothing of entry {} is parked any more", entry.number)));
    }
    let mut plan = shown_plan(entry, &prepared, now);
    plan.why = entry.outcome.iter().map(|outcome| outcome.detail.clone()).chain(late).collect();
    Ok((plan, prepared))
}

/// Says what helps where an agent has written its settings since.
fn instead(entry: &Entry) -> &'static str {
    if entry.intent.action == Action::Setup {
        "; claimtop setup --remove takes out claimtop's entries only"
    } else {
        ""
    }
}

/// Adds that to a refusal.
fn hinted(entry: &Entry, error: ActionError) -> ActionError {
    let ActionError::Never(why) = error else { return error };
    ActionError::Never(why + instead(entry))
}

fn why_not(entry: &Entry) -> String {
    match (&entry.undone_by, &entry.outcome) {
        _ if entry.intent.undoes.is_some() => "it is itself an undo".to_owned(),
        (Some(by), _) => format!("entry {by} has undone it"),
        _ if entry.is_stop() => NOT_BACK.to_owned(),
        _ if entry.is_opening() => NOT_CLOSED.to_owned(),
        _ if entry.pruned => "its parked files were discarded: `journal --prune` has removed them, or will when it is run again".to_owned(),
        (None, Some(outcome)) if !outcome.detail.is_empty() => outcome.detail.clone(),
        (None, Some(_)) => "nothing was done".to_owned(),
        (None, None) => "its outcome is not known".to_owned(),
    }
}

/// Plans to bring back a parked file as it is now: a process that had it open may still have written to it, which
/// `late` reports.
fn restore<D: Disk>(
    files: &Files<'_, D>,
    (parked, print, parked_at): (&ParkLocation, &Print, Option<Timestamp>),
    to: PathBuf,
    late: &mut Vec<String>,
) -> Result<PreparedStep, ActionError> {
    let park = files.park(parked)?;
    if !files.reaches(&park.folder, to.parent().unwrap_or(&to))? {
        return Err(far(&park.path, &to));
    }
    let lies = match parked_at {
        Some(parked_at) => files.expect_parked(parked, print, parked_at),
        None => files.lies(parked),
    };
    let lies = lies.map_err(|error| by_hand(files, parked, &to, error))?;
    if lies.is_unread() && print.is_unread() {
        late.push(format!("{} is larger than 1 MiB: it is restored without being read", shown(&to)));
    } else if lies.is_unread() {
        let why = "is larger than 1 MiB or now has a second name: it is restored without being read";
        late.push(format!("{} {why}", shown(&to)));
    } else if lies.sha256 != print.sha256 {
        let note =
            format!("{} was written to after it was parked: its current content is restored", shown(&to));
        late.push(note);
    }
    Ok(PreparedStep::Restore { parked: parked.clone(), print: lies, to })
}

/// Adds to a refusal how a person can bring a file back.
fn by_hand<D: Disk>(
    files: &Files<'_, D>,
    parked: &ParkLocation,
    to: &Path,
    error: ActionError,
) -> ActionError {
    let ActionError::Never(why) = error else { return error };
    let from = parked.folder.as_deref().unwrap_or(files.parked_path).join(&parked.name);
    ActionError::Never(format!("{why}; by hand: mv -n {} {}", quoted(&from), quoted(to)))
}

/// Quotes a path for a shell, if needed.
fn quoted(path: &Path) -> String {
    need::quoted(shown(path).raw())
}

/// Plans to give a row its previous values, if it still has those that it was given.
fn row_back<D: Disk>(
    files: &Files<'_, D>,
    format: Format,
    database: &str,
    change: &RowChange,
) -> Result<PreparedStep, ActionError> {
    let now = files.stores.for_format(format)?.row(database, &change.table, &change.id)?;
    if !is_in(now.as_ref(), &change.after) {
        let row = format!("{} {}", change.table, change.id);
        return Err(ActionError::Never(format!("{row} has changed since; the entry is out of date")));
    }
    Ok(PreparedStep::Row {
        format,
        database: database.to_owned(),
        table: change.table.clone(),
        id: change.id.clone(),
        before: change.after.clone(),
        to: RowTarget::State(change.before.clone()),
    })
}

/// Returns what lies in a place, if anything does.
fn there<D: Disk>(files: &Files<'_, D>, path: &Path) -> Result<Option<FileImage>, ActionError> {
    files.at_if_any(path)?.map_or(Ok(None), |at| files.look(at.spot(), path))
}

fn is_free<D: Disk>(files: &Files<'_, D>, path: &Path) -> Result<bool, ActionError> {
    Ok(there(files, path)?.is_none())
}

/// Returns a free name beside a file: its own between a beginning and this word, with a number if needed.
pub(crate) fn free_beside<D: Disk>(
    files: &Files<'_, D>,
    path: &Path,
    (begins, word): (&str, &str),
) -> Result<PathBuf, ActionError> {
    for number in 1..=MOST_BESIDE {
        let ends = if number == 1 { format!(".{word}") } else { format!(".{word}-{number}") };
        let mut name = OsString::from(begins);
        name.push(cut(path.file_name().unwrap_or_default(), begins.len() + ends.len()));
        name.push(ends);
        let beside = path.with_file_name(name);
        if is_free(files, &beside)? {
            return Ok(beside);
        }
    }
    Err(ActionError::Taken(format!("{MOST_BESIDE} files were already {word} beside {}", shown(path))))
}

/// Returns where to put something back: its own place if nothing lies there, otherwise a free one beside it.
fn free<D: Disk>(files: &Files<'_, D>, path: &Path, to: RestoreTo) -> Result<PathBuf, ActionError> {
    match (there(files, path)?.and_then(|image| image.meta), to) {
        (None, _) => Ok(path.to_path_buf()),
        (Some(_), RestoreTo::Beside) => {
            // The entire CLI removes a file whose name begins like a session state together with it.
            let begins = if entire_lock::is_state(path) { "." } else { "" };
            free_beside(files, path, (begins, "restored"))
        }
        (Some(meta), RestoreTo::Origin) => Err(ActionError::Taken(format!(
            "there is a file at {}, {} bytes of {}; it can be restored beside it (--beside)",
            shown(path),
            meta.size,
            meta.modified_at.strftime("%Y-%m-%d %H:%M:%SZ")
        ))),
    }
}

/// Returns what lies at a path, if it still has this content, and where it can be parked.
fn content_of<D: Disk>(
    files: &Files<'_, D>,
    path: &Path,
    sha256: &str,
) -> Result<(Print, ParkPlace), ActionError> {
    let at = files.entry(path)?;
    let there = files.look(at.spot(), path)?.and_then(|image| print_of(&image));
    let there = there.filter(|there| there.sha256 == sha256);
    let written =
        || ActionError::Never(format!("{} was written since; the entry is out of date", shown(path)));
    Ok((there.ok_or_else(written)?, files.place_for(&at)?))
}

/// Describes an undo of an entry by these steps.
pub(crate) fn shown_plan(entry: &Entry, prepared: &[PreparedStep], now: Timestamp) -> Plan {
    let steps = prepared.iter().map(|prepared| match prepared {
        PreparedStep::Park { path, .. }
        | PreparedStep::End { path, .. }
        | PreparedStep::Create { path, .. } => Step::Park { path: path.clone().into() },
        PreparedStep::Move { path, to, .. } => {
            Step::Move { path: path.clone().into(), to: to.clone().into() }
        }
        PreparedStep::Restore { parked, to, .. } => {
            Step::Restore { parked: parked.text(), to: to.clone().into() }
        }
        PreparedStep::Row { format, database, table, id, before, to } => Step::Row {
            format: *format,
            database: database.as_str().into(),
            table: table.clone(),
            id: id.as_str().into(),
            change: to.changes_text(before),
        },
        PreparedStep::Stop { print, signal } => {
            Step::Stop { id: print.id, command: print.command.clone(), signal: *signal, is_topmost: false }
        }
    });
    let age = shown_span(entry.at, now);
    Plan {
        name: format!("entry {}", entry.number),
        what: format!("undo entry {}: {}", entry.number, entry.intent.title),
        why: vec![format!("it was done {age} ago and has not been undone")],
        steps: steps.collect(),
        inverse: "do it again".to_owned(),
        refuses_when: vec!["the place is taken", "what was put in its place has changed since"],
        confirmation: Confirmation::Yes,
        ..Plan::empty(&Key::typed(&entry.number.to_string()))
    }
}
