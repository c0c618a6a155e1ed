//! Reads the world: files, processes, repositories and databases. It writes nothing but
//! `sqlite::copies` of databases, in claimtop's own folder.

pub(crate) mod bindings;
pub(crate) mod descents;
pub(crate) mod described;
pub(crate) mod git;
pub(crate) mod guarded;
pub(crate) mod homes;
pub(crate) mod interface;
pub(crate) mod ledger;
#[cfg_attr(not(feature = "postgres"), path = "leo/stub.rs")]
pub(crate) mod leo;
pub(crate) mod names;
pub(crate) mod obra;
pub(crate) mod os;
pub(crate) mod own_lines;
pub mod places;
#[cfg_attr(not(feature = "postgres"), path = "postgres/stub.rs")]
pub mod postgres;
pub(crate) mod registry;
pub(crate) mod repos;
pub(crate) mod sessions;
pub(crate) mod sizes;
pub(crate) mod sqlite;
pub(crate) mod steady;
pub(crate) mod stores;
pub(crate) mod tombstones;
pub(crate) mod traces;
pub(crate) mod unfinished;
pub(crate) mod windows;
pub(crate) mod work;
