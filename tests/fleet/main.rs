//! A fleet's database, on a real PostgreSQL server of the test's own, and PgBouncer.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests say by panicking what is wrong, and start a server"
)]

#[path = "../leo/bouncer.rs"]
mod bouncer;
#[path = "../leo/cluster.rs"]
#[expect(dead_code, reason = "LEO's tests use more of it")]
mod cluster;

mod beats;
#[path = "../common/program.rs"]
mod copied;
mod epochs;
mod faults;
mod leo;
mod login;
mod machine;
mod ordering;
mod orders;
mod pooled;
mod pressed;
mod program;
#[path = "../common/pty.rs"]
mod pty;
mod rights;
mod schedules;
mod stage;
mod witness;
