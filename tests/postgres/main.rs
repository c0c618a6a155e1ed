//! LEO's database and a fleet's, on a real PostgreSQL server of the tests' own, and PgBouncer.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests say by panicking what is wrong, and start a server"
)]

mod bouncer;
mod cluster;
mod fleet;
mod leo;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/pty.rs"]
mod pty;
