//! Actions over the real disk and real processes.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests make files and processes and say by panicking what is wrong"
)]

mod between;
mod faults;
mod faulty;
mod last_moment;
#[path = "../common/missing.rs"]
mod missing;
mod parking;
#[path = "../common/program.rs"]
mod program;
mod races;
mod road;
mod stage;
mod strangers;
mod testimony;
mod undo;
