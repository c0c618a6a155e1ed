//! The one deletion in the whole program: parked things past their retention, asked for by name.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::disk::{Disk, Keeping};
use super::lock::Lock;
use super::trouble::Trouble;
use crate::core::journal::{Entry, Line, Movement, Says};

/// A parked file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parked {
    /// The entry that parked it.
    pub entry: u64,
    /// Its parked name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was parked.
    pub since: Timestamp,
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
        for name in parked(entry) {
            let path = hands.park_path(name);
            if let Some(meta) = hands.look(hands.in_park(name), &path)?.and_then(|image| image.meta) {
                let (size, since) = (meta.size, entry.at);
                found.push(Parked { entry: entry.number, name: name.to_owned(), size, since });
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Removes what was shown, if it is still outdated. Each entry is journalled first.
pub(super) fn prune<D: Disk>(
    lock: &mut Lock<'_, D>,
    shown: &[Parked],
    now: Timestamp,
    kept_for: SignedDuration,
) -> Result<(), Trouble> {
    let outdated = outdated(lock, now, kept_for)?;
    let chosen: Vec<&Parked> = outdated.iter().filter(|parked| shown.contains(parked)).collect();
    for entry in chosen.iter().map(|parked| parked.entry).collect::<BTreeSet<_>>() {
        lock.say(Line { entry, at: now, says: Says::Pruned }, Keeping::Synced)?;
        let hands = lock.hands();
        for parked in chosen.iter().filter(|parked| parked.entry == entry) {
            let path = hands.park_path(&parked.name);
            hands.disk.remove(hands.in_park(&parked.name)).map_err(Trouble::at("remove", &path))?;
        }
    }
    Ok(())
}

/// Returns the parked names of an entry.
fn parked(entry: &Entry) -> impl Iterator<Item = &str> {
    entry.intent.movements.iter().filter_map(|movement| match movement {
        Movement::Take { parked, .. } | Movement::Exchange { parked, .. } => Some(parked.as_str()),
        Movement::Rows { backup, .. } => backup.as_deref(),
        Movement::Put { .. } => None,
    })
}
