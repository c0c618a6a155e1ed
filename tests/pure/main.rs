//! Tests that need no process of their own: worlds in TOML and real files, read and judged in memory, and the pages,
//! pictures and recordings made of them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests read files and say by panicking what is wrong"
)]

mod across;
mod answers;
#[path = "../common/mod.rs"]
mod common;
mod cuts;
mod fixtures;
mod house;
mod keys;
mod library;
mod metamorphic;
#[cfg(target_os = "linux")]
#[path = "../common/missing.rs"]
mod missing;
mod plans;
#[cfg(target_os = "linux")]
mod real;
#[cfg(target_os = "linux")]
mod recording;
#[cfg(target_os = "linux")]
mod report;
mod screenshots;
mod secrets;
mod stream;
mod threads;
mod tombstones;
#[cfg(target_os = "linux")]
mod versions;
mod worlds;
