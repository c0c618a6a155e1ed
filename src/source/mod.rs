//! Reads the world: files, processes, repositories and databases. It writes nothing but
//! [`copies`] of databases, in claimtop's own folder.

pub(crate) mod bindings;
pub mod bounds;
pub mod clock;
pub mod collect;
pub mod copies;
pub mod fence;
mod homes;
pub mod host;
pub(crate) mod leo;
pub mod locks;
pub(crate) mod obra;
pub mod open;
pub(crate) mod opener;
pub mod own;
pub mod postgres;
pub mod processes;
pub mod repos;
pub(crate) mod sessions;
pub mod sqlite;
mod steady;
pub(crate) mod stores;
mod tables;
pub mod tombstones;
pub mod watch;

pub use collect::{Collector, Places};
