//! The oracle: what must hold, judged by what is true and not by what claimtop can see.
//!
//! **Never release a claim whose true owner lives.** The owner of a file is whoever wrote its
//! bytes last, or to whom their own system handed it. When a release or a park that was
//! confirmed with a plain yes ends as done, the owner of no parked file may be alive. What was
//! confirmed by a code was told to be unknown, and is outside of the promise.
//!
//! **No byte lost.** Every content that a system wrote whole, and did not itself overwrite or
//! remove, lies somewhere after every single call; and when nothing is under way any more, it
//! lies there exactly once.

use claimtop::act::road::Receipt;
use claimtop::core::journal::{Ended, History, Movement};

use crate::world::{STATE, World};

/// Checks after a step that no byte is lost.
pub(crate) fn check_bytes(world: &mut World) {
    for (version, _) in world.ledger.wrong(&world.files, |copies| copies >= 1) {
        let owner = world.ledger.owner(version);
        world.breach(format!("version {} of life {owner:?} is lost", version.0));
        world.ledger.retire(Some(version));
    }
}

/// Checks that what a plain yes has let go of belonged to the dead.
pub(crate) fn check_owners(world: &mut World, receipt: &Receipt) {
    if receipt.outcome.ended != Ended::Done {
        return;
    }
    let prefix = format!("{STATE}/parked/{}-", receipt.entry);
    let parked =
        world.files.all().filter(|(path, _, _)| path.to_str().is_some_and(|p| p.starts_with(&prefix)));
    let owners: Vec<_> = parked
        .filter_map(|(path, _, inode)| Some((path.to_path_buf(), world.ledger.owner(inode.version?)?)))
        .collect();
    for (path, life) in
        owners.into_iter().filter(|(_, life)| world.people.is_alive(*life)).collect::<Vec<_>>()
    {
        let pid = world.people.all[life].pid;
        world.breach(format!("{} was let go, and its owner lives: life {life} ({pid})", path.display()));
    }
}

/// Notes that what was migrated is nobody's from then on, as when Maia itself moves it: who wrote
/// it finds it no more, and the window that could own it has not written it.
pub(crate) fn disown_migrated(world: &mut World, receipt: &Receipt) {
    if receipt.outcome.ended != Ended::Done {
        return;
    }
    let journal = world.files.inode(format!("{STATE}/journal.jsonl").as_ref());
    let history = History::read(journal.map_or(b"", |inode| &inode.bytes));
    let Some(entry) = history.entry(receipt.entry) else { return };
    for movement in &entry.intent.movements {
        if let Movement::Put { to, .. } = movement {
            let version = world.files.inode(to).and_then(|inode| inode.version);
            world.ledger.disown(version);
        }
    }
}

/// Checks at the end that everything lies exactly once and that the journal tells it all.
pub(crate) fn check_rest(world: &mut World) {
    let journal = world.files.inode(format!("{STATE}/journal.jsonl").as_ref());
    let history = History::read(journal.map_or(b"", |inode| &inode.bytes));
    for entry in history.entries.iter().filter(|entry| entry.outcome.is_none()) {
        world.breach(format!("entry {} has no outcome", entry.number));
    }
    // Being stuck is told, with what lies where; each such entry may have left one copy too many.
    let outcomes = history.entries.iter().filter_map(|entry| entry.outcome.as_ref());
    let most = 1 + outcomes.filter(|outcome| outcome.ended == Ended::Stuck).count();
    for (version, copies) in world.ledger.wrong(&world.files, |copies| (1..=most).contains(&copies)) {
        let lies: Vec<_> = world
            .files
            .all()
            .filter(|(_, _, inode)| inode.version == Some(version))
            .map(|(path, _, _)| path.display().to_string())
            .collect();
        world.breach(format!("version {} lies in {copies} places: {}", version.0, lies.join(", ")));
    }
}
