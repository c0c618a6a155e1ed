//! Findings about places in two hands: working trees, branches, files, ports, folders.

pub(crate) mod edits;
pub(crate) mod folders;
pub(crate) mod foresight;
pub(crate) mod lost;
pub(crate) mod places;
pub(crate) mod ports;
pub(crate) mod seen_git;
pub(crate) mod sharing;
