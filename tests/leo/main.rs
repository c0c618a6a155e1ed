//! LEO's database, on a real PostgreSQL server of the test's own.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests say by panicking what is wrong, and start a server"
)]

mod acting;
#[expect(dead_code, reason = "for what is tested next")]
mod cluster;
mod reading;
#[expect(dead_code, reason = "for what is tested next")]
mod stage;
