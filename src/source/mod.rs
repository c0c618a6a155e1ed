//! Reads the world: files, processes and repositories. It never writes.

pub(crate) mod bindings;
pub mod bounds;
pub mod clock;
pub mod collect;
pub mod fence;
pub mod host;
pub mod locks;
pub(crate) mod obra;
pub mod open;
mod opener;
pub mod own;
pub mod processes;
pub mod repos;
pub(crate) mod sessions;
pub mod sqlite;
pub mod watch;

pub use collect::{Collector, Places};
