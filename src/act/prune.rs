//! The one deletion in the whole program: parked things past their retention, asked for by name.

use jiff::{SignedDuration, Timestamp};

use super::disk::{Disk, Keeping};
use super::lock::Lock;
use super::movement::{Hands, print_of};
use super::trouble::Trouble;
use crate::core::history::journal;
use crate::core::history::journal::{Entry, Line, Movement, Print, Says};

/// A parked file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parked {
    /// The entry that parked it.
    pub entry: u64,
    /// Its parked name, with the folder where that is not the state folder's own.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was parked.
    pub since: Timestamp,
    /// Why it is not removed, if it is not; then nothing of its entry is.
    pub kept: Option<String>,
}

/// Returns what is parked for longer than `kept_for`.
pub(super) fn outdated<D: Disk>(
    lock: &Lock<'_, D>,
    now: Timestamp,
    kept_for: SignedDuration,
) -> Result<Vec<Parked>, Trouble> {
    let hands = lock.hands();
    let mut found = Vec::new();
    for entry in lock.history.entries.iter().filter(|entry| now.duration_since(entry.at) > kept_for) {
        for (parked, print) in parked(entry) {
            found.extend(looked_at(&hands, entry, &parked, print)?);
        }
    }
    found.sort();
    Ok(found)
}

/// Looks at one parked file; `None` when there is none, or none that is ours to touch.
fn looked_at<D: Disk>(
    hands: &Hands<'_, D>,
    entry: &Entry,
    parked: &journal::Parked,
    print: Option<&Print>,
) -> Result<Option<Parked>, Trouble> {
    let park = match hands.park_if_any(parked) {
        Ok(Some(park)) => park,
        Ok(None) | Err(Trouble::Never(_)) => return Ok(None),
        Err(trouble) => return Err(trouble),
    };
    let Some(image) = hands.look(park.spot(), &park.path)? else { return Ok(None) };
    let Some(meta) = image.meta else { return Ok(None) };
    let opener = hands.disk.opener_of(park.spot()).map_err(Trouble::at("ask who has open", &park.path))?;
    let has_changed = |print: &Print| print_of(&image).is_none_or(|lies| lies.sha256 != print.sha256);
    let kept = match opener {
        Some(pid) => Some(format!("PID {pid} has it open")),
        None if print.is_some_and(has_changed) => Some("it was written to after it was parked".to_owned()),
        None => None,
    };
    let name = parked.text().raw().to_owned();
    Ok(Some(Parked { entry: entry.number, name, size: meta.size, since: entry.at, kept }))
}

/// Returns what of it can be removed: nothing of an entry of which something is kept.
pub fn removable(outdated: &[Parked]) -> impl Iterator<Item = &Parked> {
    let is_kept = |entry| outdated.iter().any(|other| other.entry == entry && other.kept.is_some());
    outdated.iter().filter(move |parked| !is_kept(parked.entry))
}

/// Removes what was shown, if it is still outdated and can be removed. Each entry is journalled
/// first.
pub(super) fn prune<D: Disk>(
    lock: &mut Lock<'_, D>,
    shown: &[Parked],
    now: Timestamp,
    kept_for: SignedDuration,
) -> Result<(), Trouble> {
    let outdated = outdated(lock, now, kept_for)?;
    let is_chosen = |name: &str, number| {
        let is_it = |one: &&Parked| one.entry == number && one.name == name && shown.contains(one);
        removable(&outdated).any(|one| is_it(&one))
    };
    for entry in lock.history.entries.clone() {
        let chosen = parked(&entry).map(|(parked, _)| parked);
        let chosen: Vec<_> = chosen.filter(|parked| is_chosen(parked.text().raw(), entry.number)).collect();
        if chosen.is_empty() {
            continue;
        }
        lock.say(Line { entry: entry.number, at: now, says: Says::Pruned }, Keeping::Synced)?;
        let hands = lock.hands();
        for parked in chosen {
            let park = hands.park(&parked)?;
            hands.disk.remove(park.spot()).map_err(Trouble::at("remove", &park.path))?;
        }
    }
    Ok(())
}

/// Returns what an entry has parked, and what that was.
fn parked(entry: &Entry) -> impl Iterator<Item = (journal::Parked, Option<&Print>)> {
    entry.intent.movements.iter().filter_map(|movement| match movement {
        Movement::Take { parked, print, .. } | Movement::Exchange { parked, print, .. } => {
            Some((parked.clone(), Some(print)))
        }
        Movement::Rows { backup, .. } => Some((journal::Parked::in_state(backup.as_deref()?), None)),
        Movement::Put { .. } => None,
    })
}
