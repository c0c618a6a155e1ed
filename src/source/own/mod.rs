//! What claimtop itself keeps in its state folder, read: notes, ledgers, tombstones, its own journal.

pub(crate) mod bindings;
pub(crate) mod content;
pub(crate) mod cost;
pub(crate) mod descents;
pub(crate) mod forecasts;
pub(crate) mod git_commands;
pub(crate) mod guarded;
pub(crate) mod kept;
pub(crate) mod ledger;
pub(crate) mod lines;
pub(crate) mod tombstones;
pub(crate) mod unfinished;
