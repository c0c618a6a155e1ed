//! The movements of files: take, put, exchange. None overwrites or copies: each is a rename within one file system, so
//! a process that has a file open, seen or not, continues writing into that very file, wherever it lies.
//! [`crate::act::recover`] puts interrupted movements right.

pub(crate) mod disk;
mod exchange;
pub(super) mod files;
pub(super) mod park;
pub(super) mod print;
pub(super) mod put;
mod reverse;
pub(crate) mod system;
mod take;
