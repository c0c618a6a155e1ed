//! What `mcp` does in a build without the feature of that name.

use anyhow::anyhow;

use crate::cli::output::failure::{Failure, Outcome};
use crate::cli::settings::Settings;

/// Says that this build has no server for agents.
///
/// # Errors
/// Always.
pub(crate) fn run(_: &Settings) -> Outcome {
    print_settings()
}

/// Says the same: without a server there is nothing to set up.
///
/// # Errors
/// Always.
pub(crate) fn print_settings() -> Outcome {
    let error = anyhow!("this build of claimtop answers no agents: it has no feature `mcp`");
    let hint = "the packages have it; `claimtop explain` and `claimtop alive` answer the same";
    Err(Failure::usage(error).hint(hint))
}
