//! Actions over the real disk and real processes, and over Obra's database.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests make files and processes and say by panicking what is wrong"
)]

mod actions;
#[path = "../common/apart.rs"]
mod apart;
mod faulty;
#[path = "../common/missing.rs"]
mod missing;
mod obra;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/stage.rs"]
mod stage;
