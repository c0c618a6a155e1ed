//! Other machines, made of namespaces and of programs that behave badly: their reports are shown as theirs, and none
//! harms another or what is seen here.
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

mod adversary;
mod apart;
mod breaks;
mod ending;
mod expiry;
mod far;
mod hostile;
mod links;
mod looking;
#[path = "../common/missing.rs"]
mod missing;
mod orders;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/pty.rs"]
mod pty;
mod reached;
mod server;
mod silent;
mod ssh;
mod stage;
#[path = "../common/world.rs"]
mod world;
