//! Writes claimtop's state folder: the journal, tombstones, hook notes, ledgers, kept files.

pub(crate) mod append;
pub(crate) mod bind;
pub(crate) mod dead_holds;
pub(crate) mod forecasts;
pub(crate) mod git_commands;
pub(crate) mod history_ring;
pub(crate) mod journal_store;
pub(crate) mod kept;
pub(crate) mod known_machines;
pub(crate) mod last_known;
pub(crate) mod ledger;
pub(crate) mod preferences;
pub(crate) mod store_id;
pub(crate) mod tombstones;
