//! What the guard needs to know of a run: what a person has set, and where things lie.

use std::path::PathBuf;
use std::time::Instant;

use crate::config::guard::Guard;
use crate::config::keep::Keep;

/// What the guard works with.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// What a person has set of it.
    pub(crate) guard: Guard,
    /// The person's home.
    pub(crate) home: PathBuf,
    /// Claude Code's folder of settings, which has its registry.
    pub(crate) claude_config: PathBuf,
    /// The folder of the ledgers: a folder for each working tree.
    pub(crate) ledgers: PathBuf,
    /// What is kept of what windows write, as a person has set it.
    pub(crate) keep: Keep,
    /// The folder of that: a folder for each working tree.
    pub(crate) kept: PathBuf,
    /// Until when losses may be looked for, if there is a limit.
    pub(crate) losses_until: Option<Instant>,
    /// The state folder, in which git may report its commands.
    pub(crate) state: PathBuf,
    /// Whether the environment sends git to a repository elsewhere (`GIT_DIR`).
    pub(crate) is_git_elsewhere: bool,
}
