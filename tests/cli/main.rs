//! The built program as shells, hooks and scripts see it, over ordinary and hostile files; and which processes are
//! agents'.
//!
//! No agents run here but those of the program's own tests: they determine the number of windows.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start the program, write its files and say by panicking what is wrong"
)]

mod act;
mod agents;
#[cfg(target_os = "linux")]
mod alive;
#[cfg(target_os = "linux")]
#[path = "../common/apart.rs"]
mod apart;
mod context;
mod docs;
mod ended;
mod explain;
mod formats;
#[cfg(target_os = "linux")]
mod full;
mod here;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod left_overs;
mod left_trees;
mod lost_checkpoint;
#[cfg(feature = "mcp")]
mod mcp;
#[path = "../common/missing.rs"]
mod missing;
mod names;
mod other_home;
mod parked;
#[path = "../common/program.rs"]
mod program;
mod setup;
mod sources;
mod stats;
mod stopping;
mod usage;
#[cfg(target_os = "linux")]
mod watching;
#[path = "../common/world.rs"]
mod world;
