//! The movements of files: take, put, exchange. None overwrites, and none copies: each is a rename
//! within one file system, so that whoever has a file open, seen or not, goes on writing into that
//! very file, wherever it lies by then. What is cut off in between, [`crate::act::recover`] puts
//! right.

pub(crate) mod disk;
mod exchange;
pub(super) mod files;
pub(super) mod park;
pub(super) mod print;
pub(super) mod put;
mod reverse;
pub(crate) mod system;
mod take;
