//! `guard` over recorded worlds: what it answers to every call, beside what is true there.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start programs and write their files"
)]

mod corpus;
mod forms;
mod lines;
mod replay;
mod returned;
mod simulator;
#[path = "../cli/world.rs"]
mod world;
