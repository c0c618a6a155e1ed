//! The rules of every action, and what a person types to confirm it.

use std::path::PathBuf;

use jiff::SignedDuration;

/// The rules that every action follows.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The home, for paths that begin with `~` in a plan.
    pub home: PathBuf,
    /// The user whose files may be touched.
    pub uid: u32,
    /// The folders of programs, where git is looked for.
    pub programs: Vec<PathBuf>,
    /// How long a file must be unchanged.
    pub settled_for: SignedDuration,
}

impl Rules {
    /// How long a file must be unchanged, outside of tests: 2 s.
    pub const SETTLED_FOR: SignedDuration = SignedDuration::from_secs(2);
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// `y`, or `--yes`.
    Yes,
    /// Typed text.
    Typed(String),
}
