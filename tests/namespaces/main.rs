//! Real processes in other namespaces than claimtop's, and a `/proc` that hides some: what lives is
//! never told dead, seen from either side.
//!
//! Every process that is ended here was started here.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start processes, write their files and say by panicking what is wrong"
)]

mod churn;
mod descents;
mod hidden;
mod mounts;
mod overlay;
mod pids;
#[path = "../common/program.rs"]
mod program;
mod stage;
mod times;
mod tombstones;
