//! Windows that the tests start themselves: small programs under agents' names. They are apart from
//! the other tests of the program because every claimtop on the machine sees them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start programs and write their files"
)]

mod bind;
mod guard;
mod guard_faults;
mod guard_seen;
mod homes;
mod left_behind;
mod model;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/pty.rs"]
mod pty;
mod real;
mod real_guard;
mod service;
mod sessions;
mod tmux;
mod work;
#[path = "../cli/world.rs"]
mod world;
mod zellij;
