//! Reads the world: files, processes and repositories. It never writes.

pub mod clock;
pub mod collect;

pub use collect::{Collector, Places};
