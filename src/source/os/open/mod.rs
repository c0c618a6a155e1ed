//! Opens folders and files that anybody may have tampered with, without blocking and without
//! following a link.

pub mod error;
pub mod folder;
pub mod image;
pub mod listing;
pub mod medium;
pub mod meta;
pub mod plain;
