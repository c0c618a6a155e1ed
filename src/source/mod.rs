//! Reads the world: files, processes, repositories and databases. It writes nothing but
//! [`sqlite::copies`] of databases, in claimtop's own folder.

pub(crate) mod bindings;
pub mod described;
pub(crate) mod homes;
pub(crate) mod interface;
#[cfg_attr(not(feature = "postgres"), path = "leo/stub.rs")]
pub(crate) mod leo;
pub mod names;
pub(crate) mod obra;
pub mod os;
pub mod places;
#[cfg_attr(not(feature = "postgres"), path = "postgres/stub.rs")]
pub mod postgres;
pub(crate) mod registry;
pub mod repos;
pub(crate) mod sessions;
pub mod sqlite;
pub(crate) mod steady;
pub(crate) mod stores;
pub mod tombstones;
pub(crate) mod windows;
