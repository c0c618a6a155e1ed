//! The claimtop program.

fn main() {}
