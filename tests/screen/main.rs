//! The full screen in a real terminal.
//!
//! Each claimtop of this program sees the agents of all its tests.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start processes, write their files and say by panicking what is wrong"
)]

#[path = "../common/apart.rs"]
mod apart;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/pty.rs"]
mod pty;
mod terminal;
