//! The built program as shells, hooks and scripts see it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests start the program and write its files"
)]

mod act;
#[cfg(target_os = "linux")]
#[path = "../common/apart.rs"]
mod apart;
mod context;
mod ended;
mod explain;
mod formats;
#[cfg(target_os = "linux")]
mod full;
#[cfg(target_os = "linux")]
mod left_overs;
mod left_trees;
#[path = "../common/missing.rs"]
mod missing;
mod names;
mod other_home;
mod program;
mod sources;
mod stopping;
#[cfg(target_os = "linux")]
mod watching;
mod world;
