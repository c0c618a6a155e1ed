//! Obra's database with a real writer beside it: read, released, undone, and never harmed.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests make files and processes and say by panicking what is wrong"
)]

#[path = "../common/apart.rs"]
mod apart;
mod cut_off;
mod faults;
#[path = "../act/faulty.rs"]
mod faulty;
mod full;
mod opening;
mod release;
mod stage;
mod writer;
