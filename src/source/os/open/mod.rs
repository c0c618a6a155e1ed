//! Opens folders and files that any process may have tampered with, without blocking and without following a link.

pub(crate) mod error;
pub(crate) mod folder;
pub(crate) mod image;
pub(crate) mod listing;
pub(crate) mod medium;
pub(crate) mod meta;
pub(crate) mod plain;
