//! LEO's database, on a real PostgreSQL server of the test's own.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests say by panicking what is wrong, and start a server"
)]

mod acting;
mod bouncer;
mod changes;
mod client;
mod cluster;
mod cut_off;
mod deployments;
mod file_locks;
mod files;
mod following;
mod hostile;
mod pooler;
mod program;
mod proxy;
mod races;
mod reading;
mod stage;
mod tls;
mod wire;
