//! claimtop.

pub mod app;
pub mod config;
pub mod core;
pub mod format;
pub mod run;
pub mod source;
pub mod ui;
