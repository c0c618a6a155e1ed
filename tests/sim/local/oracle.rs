//! The oracle: the invariants, judged by the truth and not by what claimtop can see.
//!
//! **Never release a claim whose true owner lives.** The owner of a file is the process that wrote its bytes last, or
//! to which their own system handed it. When a release or a park that was confirmed with a plain yes ends as done, the
//! owner of no parked file may be alive. An action confirmed by a code was shown as unknown, and is outside of the
//! promise.
//!
//! **No byte lost.** Every content that a system wrote whole, and did not itself overwrite or remove, exists somewhere
//! after every single call; and when nothing is under way any more, it exists exactly once. There is no exception:
//! this includes the writes of a program to a file that it opened before it was parked, unseen by any claimtop.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use claimtop::testing::act::Receipt;
use claimtop::testing::core::{Action, EndResult, Entry, History, Movement};

use crate::local::files::Version;
use crate::local::world::{STATE, World};

/// Checks after a step that no byte is lost.
pub(crate) fn check_bytes(world: &mut World) {
    for (version, _) in world.ledger.wrong(&world.files, |copies| copies >= 1) {
        let owner = world.ledger.owner(version);
        world.breach(format!("version {} of life {owner:?} is lost", version.0));
        world.ledger.retire(Some(version));
    }
}

/// Checks that the claims released by a plain yes belonged to the dead.
pub(crate) fn check_owners(world: &mut World, receipt: &Receipt) {
    if receipt.outcome.ended != EndResult::Done {
        return;
    }
    if world.lost_journal {
        // Files of an earlier entry of the same number may lie there.
        return;
    }
    let migrated = migrated(world);
    let history = history(world);
    let folders: Vec<_> = history
        .parked_folders()
        .into_iter()
        .chain([Path::new(STATE).join("parked").as_path()])
        .map(Path::to_path_buf)
        .collect();
    let prefix = format!("{}-", receipt.entry);
    let is_of_it = |path: &Path| {
        let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        is_named && path.parent().is_some_and(|folder| folders.iter().any(|own| own == folder))
    };
    let parked = world.files.all().filter(|(path, _, _)| is_of_it(path));
    let owners: Vec<_> = parked
        .filter(|(_, _, inode)| inode.version.is_none_or(|version| !migrated.contains(&version)))
        .filter_map(|(path, _, inode)| Some((path.to_path_buf(), world.ledger.owner(inode.version?)?)))
        .collect();
    for (path, life) in
        owners.into_iter().filter(|(_, life)| world.processes.is_alive(*life)).collect::<Vec<_>>()
    {
        let pid = world.processes.all[life].pid;
        world.breach(format!("{} was let go, and its owner lives: life {life} ({pid})", path.display()));
    }
}

/// Reads the journal.
fn history(world: &World) -> History {
    let journal = world.files.inode(format!("{STATE}/journal.jsonl").as_ref());
    History::read(journal.map_or(b"", |inode| &inode.bytes))
}

/// Returns the versions that a claimtop has moved for another window, also if it was killed before it knew.
fn migrated(world: &World) -> BTreeSet<Version> {
    let history = history(world);
    let entries = history.entries.iter().filter(|entry| entry.intent.action == Action::Migrate);
    let prints = entries.flat_map(|entry| &entry.intent.movements).filter_map(|movement| match movement {
        Movement::Put { print, .. } => Some(print),
        Movement::Take { .. } | Movement::Exchange { .. } | Movement::Rows { .. } | Movement::Stop { .. } => {
            None
        }
    });
    prints.filter_map(|print| world.ledger.version_of(&print.sha256)).collect()
}

/// Records that migrated versions have no owner from then on, as when Maia itself moves them: the process that wrote
/// them can no longer find them, and the window that could own them has not written them.
pub(crate) fn disown_migrated(world: &mut World, receipt: &Receipt) {
    if receipt.outcome.ended != EndResult::Done {
        return;
    }
    let history = history(world);
    let Some(entry) = history.entry(receipt.entry) else { return };
    for movement in &entry.intent.movements {
        if let Movement::Put { to, .. } = movement {
            let version = world.files.inode(to).and_then(|inode| inode.version);
            world.ledger.disown(version);
        }
    }
}

/// Checks at the end that every content exists exactly once and that the journal records it all.
pub(crate) fn check_rest(world: &mut World) {
    let history = history(world);
    for entry in history.entries.iter().filter(|entry| entry.outcome.is_none()) {
        world.breach(format!("entry {} has no outcome", entry.number));
    }
    let stuck = Stuck::of(world, &history);
    // A file that was under way when the journal was deleted may lie there twice, unknown to any claimtop.
    let is_right = |copies| if world.lost_journal { copies >= 1 } else { copies == 1 };
    for (version, copies) in world.ledger.wrong(&world.files, is_right) {
        let lies = places(world, version);
        if copies == 0 || !stuck.explains(version, &lies) {
            let lies: Vec<_> = lies.iter().map(|path| path.display().to_string()).collect();
            world.breach(format!("version {} lies in {copies} places: {}", version.0, lies.join(", ")));
        }
    }
}

fn places(world: &World, version: Version) -> Vec<PathBuf> {
    let all = world.files.all().filter(|(_, _, inode)| inode.version == Some(version));
    all.map(|(path, _, _)| path.to_path_buf()).collect()
}

/// Where a stuck entry may have left one copy too many, and of which content.
struct Stuck {
    /// The contents of each stuck entry.
    about: Vec<Version>,
    /// Where any entry could put each content: later entries may have moved the copies of earlier ones.
    places: Vec<(Version, Vec<PathBuf>)>,
}

impl Stuck {
    /// Reads it from the journal. Only a disk that refuses leads to it: interrupted entries are put right, and a
    /// foreign file in the place leaves one copy.
    fn of(world: &World, history: &History) -> Self {
        let is_stuck =
            |entry: &&Entry| entry.outcome.as_ref().is_some_and(|outcome| outcome.ended == EndResult::Stuck);
        let stuck = history.entries.iter().filter(is_stuck).filter(|_| world.fault_model.faults > 0);
        Self {
            about: stuck.flat_map(|entry| left_by(world, entry)).map(|(version, _)| version).collect(),
            places: history.entries.iter().flat_map(|entry| left_by(world, entry)).collect(),
        }
    }

    /// Returns whether all but one of the places belong to entries with this content, one for each stuck entry.
    fn explains(&self, version: Version, lies: &[PathBuf]) -> bool {
        let told = self.places.iter().filter(|(own, _)| *own == version).flat_map(|(_, places)| places);
        let told = told.filter(|place| lies.contains(place)).collect::<BTreeSet<_>>();
        let stuck = self.about.iter().filter(|own| **own == version).count();
        lies.len() <= 1 + told.len().min(stuck)
    }
}

/// Returns the contents of an entry, and every place where it could put each.
fn left_by(world: &World, entry: &Entry) -> Vec<(Version, Vec<PathBuf>)> {
    let movements = entry.intent.movements.iter().filter_map(|movement| match movement {
        Movement::Take { from: path, parked, print }
        | Movement::Put { to: path, parked, print, .. }
        | Movement::Exchange { path, parked, print, .. } => Some((path, parked, print)),
        Movement::Rows { .. } => unreachable!("no database is simulated"),
        Movement::Stop { .. } => None,
    });
    let mut left: BTreeMap<Version, Vec<PathBuf>> = BTreeMap::new();
    for (path, parked, print) in movements {
        let Some(version) = world.ledger.version_of(&print.sha256) else { continue };
        let number: Vec<&str> = parked.name.splitn(3, '-').take(2).collect();
        let aside = format!(".claimtop-{}", number.join("-"));
        let places = left.entry(version).or_default();
        places.push(path.clone());
        let own = Path::new(STATE).join("parked");
        places.push(parked.folder.clone().unwrap_or(own).join(&parked.name));
        places.push(path.with_file_name(&aside));
        places.push(path.with_file_name(format!("{aside}-back")));
    }
    left.into_iter().collect()
}
