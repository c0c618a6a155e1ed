//! The operating system: files, folders, processes, clocks, each read in one safe way.

pub mod clock;
pub mod fence;
pub mod host;
pub mod locks;
pub mod open;
pub(crate) mod opener;
pub mod processes;
