//! How agents are recognised.

use anyhow::Context;

use crate::cli::output::failure::{Exit, Failure};
use crate::cli::settings::Settings;
use crate::core::judge::window::agent::Signatures;

/// Returns all signatures: a person's own before those that claimtop ships.
pub(crate) fn signatures(settings: &Settings) -> Result<Signatures, Failure> {
    let built_in = Signatures::built_in()
        .context("failed to read the signatures that claimtop ships")
        .map_err(|error| Failure::new(Exit::Bug, error))?;
    Ok(built_in.with_own(settings.effective.config.agents.clone()))
}
