//! Seeded simulations against oracles that know the truth: of one machine, and of several that share a home.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a simulation says by panicking what is wrong"
)]

mod local;
mod machines;
mod rng;
