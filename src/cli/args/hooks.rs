//! What agents' hooks call, and what people ask about them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::hook::Agent;

/// The arguments of `context-id`.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextArguments {
    /// Ask for this process instead of the calling one
    #[arg(long, value_name = "N")]
    pub(crate) pid: Option<u32>,
    /// Print JSON with the chain of parents
    #[arg(long)]
    pub(crate) json: bool,
    /// Refuse (exit 3) instead of falling back to an ID that the next call will not find again
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The arguments of `bind`.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BindArguments {
    /// Say on standard error why nothing was bound
    #[arg(long)]
    pub(crate) verbose: bool,
}

/// What a guard is asked by people and scripts.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum GuardCommand {
    /// Show which live window has uncommitted edits in these files; exit code 1 if one has
    Check {
        /// Files or folders
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Replay recorded calls in a recorded world; exit code 1 if an answer is wrong
    Replay {
        /// The recording
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print a JSON object per call
        #[arg(long)]
        json: bool,
    },
    /// Count its responses, and how long they took
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// The arguments of `setup`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SetupArguments {
    /// Which agents; by default all that are installed
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<Agent>,
    /// Remove what is claimtop's again
    #[arg(long)]
    pub(crate) remove: bool,
    /// Only check what is there, as `hook check` does; exit code 1 if something is broken
    #[arg(long, conflicts_with_all = ["agents", "remove", "dry_run", "yes", "json"])]
    pub(crate) check: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do it without asking
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is done about hooks.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Print the settings; nothing is edited
    Print {
        /// Which agent; by default all that have hooks
        agent: Option<Agent>,
        /// Show how to remove them again
        #[arg(long, conflicts_with = "agent")]
        remove: bool,
    },
    /// Show for each agent which hooks it has, and whether they can run
    Check,
}
