//! The one deletion in the whole program: parked files past their retention, requested by name.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use crate::act::error::ActionError;
use crate::act::fs::disk::{Boot, Disk, Durability};
use crate::act::fs::files::Files;
use crate::act::fs::print::print_of;
use crate::act::state::journal_store::Lock;
use crate::core::history::journal::{Entry, Line, Says};
use crate::core::history::movement::{self, Movement, Print};
use crate::core::model::text::Untrusted;
use crate::source::os::opener::HiddenOpener;

/// A parked file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParkedFile {
    /// The entry that parked it.
    pub(crate) entry: u64,
    /// Where it is parked.
    pub(crate) at: movement::ParkLocation,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// When it was parked.
    pub(crate) since: Timestamp,
    /// Why it is not removed, if it is not; then nothing of its entry is removed.
    pub kept: Option<KeepReason>,
}

impl ParkedFile {
    /// Returns its parked name, with the folder if that is not the state folder's own.
    pub fn name(&self) -> Untrusted {
        self.at.text()
    }
}

/// Why a parked file is not removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeepReason {
    /// The process of this PID has it open.
    Open(u32),
    /// A process whose open files are not visible may have it open.
    MayBeOpen(HiddenOpener),
    /// It was written to after it was parked.
    Changed,
    /// It was never released: its action got stuck.
    Stuck,
}

impl fmt::Display for KeepReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(pid) => write!(f, "PID {pid} has it open"),
            Self::MayBeOpen(hidden) => {
                match hidden {
                    HiddenOpener::Process(pid) => {
                        write!(f, "PID {pid} may have it open, which cannot be seen from here")?
                    }
                    HiddenOpener::Unlisted => {
                        f.write_str("a process that cannot be seen from here may have it open")?
                    }
                }
                f.write_str("; after a reboot no process will")
            }
            Self::Changed => f.write_str("it was written to after it was parked"),
            Self::Stuck => {
                f.write_str("it was not meant to stay parked: undo the entry, or restore it --beside")
            }
        }
    }
}

/// Returns what has been parked for longer than `kept_for`.
pub(crate) fn outdated<D: Disk>(
    lock: &Lock<'_, D>,
    now: Timestamp,
    kept_for: SignedDuration,
) -> Result<Vec<ParkedFile>, ActionError> {
    let files = lock.files();
    let mut found = Vec::new();
    let boot = files.disk.boot(now);
    let hidden = files.disk.hidden_opener();
    for entry in lock.history.entries.iter().filter(|entry| now.duration_since(entry.at) > kept_for) {
        for (parked, print) in entry.intent.movements.iter().filter_map(Movement::parks) {
            let is_its = |other: &&Entry| {
                other.number != entry.number
                    && (other.is_open() || other.is_stuck())
                    && other.intent.movements.iter().any(|movement| movement.parked() == Some(&parked))
            };
            let is_wanted = lock.history.entries.iter().any(|other| is_its(&other));
            let hidden = hidden.filter(|_| !is_older(entry, &boot));
            let parked = FoundParked { parked: &parked, is_wanted, print, hidden };
            found.extend(looked_at(&files, entry, parked)?);
        }
    }
    found.sort();
    Ok(found)
}

/// The largest difference between two readings of a clock: 2 s.
const SLACK: SignedDuration = SignedDuration::from_secs(2);

/// Returns whether an entry is from before this boot. No process has survived that, and since then only this user
/// could open parked files.
fn is_older(entry: &Entry, boot: &Boot) -> bool {
    let is_of_boot = entry.intent.boot_id.is_some() && entry.intent.boot_id == boot.id;
    !is_of_boot && boot.at.is_some_and(|at| at.duration_since(entry.at) > SLACK)
}

/// The parked files of an entry.
#[derive(Clone, Copy)]
struct FoundParked<'a> {
    parked: &'a movement::ParkLocation,
    /// Whether an unfinished entry may still bring it back.
    is_wanted: bool,
    print: Option<&'a Print>,
    /// A process that may have it open without that being visible.
    hidden: Option<HiddenOpener>,
}

/// Looks at one parked file; `None` if there is none, or none that claimtop may touch.
fn looked_at<D: Disk>(
    files: &Files<'_, D>,
    entry: &Entry,
    FoundParked { parked, is_wanted, print, hidden }: FoundParked<'_>,
) -> Result<Option<ParkedFile>, ActionError> {
    let park = match files.park_if_any(parked) {
        Ok(Some(park)) => park,
        Ok(None) | Err(ActionError::Never(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(image) = files.look(park.spot(), &park.path)? else { return Ok(None) };
    let Some(meta) = image.meta else { return Ok(None) };
    let opener = files
        .disk
        .opener_of(park.spot())
        .map_err(ActionError::failed_at("check who has open", &park.path))?;
    let has_changed = |print: &Print| match print.is_unread() {
        true => !print.is_of(&meta),
        false => print_of(&image).is_none_or(|lies| lies.sha256 != print.sha256),
    };
    let kept = match opener {
        Some(pid) => Some(KeepReason::Open(pid)),
        // An undo that was cut off may still bring it back.
        None if !entry.is_done() || is_wanted => Some(KeepReason::Stuck),
        None if print.is_some_and(has_changed) => Some(KeepReason::Changed),
        None => hidden.map(KeepReason::MayBeOpen),
    };
    Ok(Some(ParkedFile { entry: entry.number, at: parked.clone(), size: meta.size, since: entry.at, kept }))
}

/// Returns the files that can be removed: none of an entry of which one is kept.
pub fn removable(outdated: &[ParkedFile]) -> impl Iterator<Item = &ParkedFile> {
    let is_kept = |entry| outdated.iter().any(|other| other.entry == entry && other.kept.is_some());
    outdated.iter().filter(move |parked| !is_kept(parked.entry))
}

/// Removes the files that were shown, if they are still outdated and can be removed. Each entry is journalled first.
pub(crate) fn prune<D: Disk>(
    lock: &mut Lock<'_, D>,
    shown: &[ParkedFile],
    now: Timestamp,
    kept_for: SignedDuration,
) -> Result<(), ActionError> {
    let outdated = outdated(lock, now, kept_for)?;
    let is_chosen = |at: &movement::ParkLocation, number| {
        let is_it = |one: &&ParkedFile| one.entry == number && one.at == *at && shown.contains(one);
        removable(&outdated).any(|one| is_it(&one))
    };
    for entry in lock.history.entries.clone() {
        let parked = entry.intent.movements.iter().filter_map(Movement::parks);
        let chosen = parked.map(|(parked, _)| parked);
        let chosen: Vec<_> = chosen.filter(|parked| is_chosen(parked, entry.number)).collect();
        if chosen.is_empty() {
            continue;
        }
        lock.add_line(Line { entry: entry.number, at: now, says: Says::Pruned }, Durability::Reserved)?;
        let files = lock.files();
        for parked in chosen {
            let park = files.park(&parked)?;
            files.disk.remove(park.spot()).map_err(ActionError::failed_at("remove", &park.path))?;
        }
    }
    Ok(())
}
