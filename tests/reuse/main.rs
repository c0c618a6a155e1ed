//! Tests that need a world without other processes: forced reuse of PIDs, endings of processes, windows that live and
//! die before an open screen, and a long look.
//!
//! A separate program, in which one test runs after the other: resetting the kernel's last PID also gives the PIDs of
//! other tests' dead processes to other tests' live ones.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests make files and processes and say by panicking what is wrong"
)]

mod heirs;
mod live;
#[path = "../common/missing.rs"]
mod missing;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/pty.rs"]
mod pty;
mod soak;
#[expect(dead_code, reason = "these tests need only a part of it")]
#[path = "../common/stage.rs"]
mod stage;
mod stopping;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test of this program runs.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether the kernel lets this user choose the next PID; prints a note if it does not.
fn may_force_reuse() -> bool {
    let last = "/proc/sys/kernel/ns_last_pid";
    let kept = std::fs::read(last).and_then(|number| std::fs::write(last, number));
    if let Err(error) = &kept {
        eprintln!("skipped: no PID can be reused by force: {last}: {error}");
    }
    kept.is_ok()
}

/// Returns how many PIDs are reused by force in each test: 64, or the value of `CLAIMTOP_REUSES`.
fn rounds() -> usize {
    std::env::var("CLAIMTOP_REUSES").map_or(64, |text| text.parse().unwrap())
}
