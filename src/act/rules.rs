//! The rules of every action, and what a person types to confirm it.

use std::path::PathBuf;

use jiff::SignedDuration;

/// What every action keeps to.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The home, for places that a plan names by `~`.
    pub home: PathBuf,
    /// Whose files may be touched: the user's own.
    pub uid: u32,
    /// How long a file must have been left alone.
    pub settled_for: SignedDuration,
}

impl Rules {
    /// How long a file must have been left alone, outside of tests: 2 s.
    pub const SETTLED_FOR: SignedDuration = SignedDuration::from_secs(2);
}

/// What a person gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// `y`, or `--yes`.
    Yes,
    /// What was typed.
    Typed(String),
}
