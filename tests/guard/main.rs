//! The guard, and windows that the tests start themselves, the demo's among them: small programs under agents' names.
//!
//! Every claimtop of this program sees the windows of all its tests.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start programs and write their files"
)]

mod answers;
#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "the demo needs only a part of it")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod demo;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/pty.rs"]
mod pty;
mod windows;
#[path = "../common/world.rs"]
mod world;
