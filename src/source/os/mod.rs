//! The operating system: files, folders, processes, clocks, each read in one safe way.

pub(crate) mod clock;
pub(crate) mod fence;
pub(crate) mod host;
pub(crate) mod locks;
pub(crate) mod mounts;
pub(crate) mod open;
pub(crate) mod opener;
pub(crate) mod pipe;
pub(crate) mod processes;
pub(crate) mod program;
