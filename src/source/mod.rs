//! Reads the world: files, processes and repositories. It never writes.

pub mod clock;
pub mod collect;
pub mod host;
pub mod open;
pub mod processes;

pub use collect::{Collector, Places};
