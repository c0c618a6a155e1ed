//! claimtop.

pub mod config;
pub mod core;
pub mod format;
pub mod source;
