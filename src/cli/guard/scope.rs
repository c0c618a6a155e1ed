//! What the settings of a run give to the guard.

use std::path::PathBuf;

use anyhow::anyhow;
use jiff::Timestamp;

use crate::cli::settings::Settings;
use crate::cli::settings::signatures::signatures;
use crate::guard::machine::Machine;
use crate::guard::scope::Scope;

/// Returns what the guard works with.
pub(super) fn scope(settings: &Settings) -> Scope {
    Scope {
        guard: settings.effective.config.guard.clone(),
        home: settings.places.home.clone(),
        claude_config: settings.places.claude_config.clone(),
        ledgers: folder(settings).join("trees"),
        keep: settings.effective.config.keep,
        kept: settings.state.join("kept"),
        losses_until: None,
        state: settings.state.clone(),
        is_git_elsewhere: settings.environment.is_git_elsewhere,
    }
}

/// Asks the system who runs this.
///
/// # Errors
/// The signatures of agents that a person has configured cannot be read.
pub(crate) fn machine(settings: &Settings, now: Timestamp) -> anyhow::Result<Machine> {
    let signatures = signatures(settings).map_err(|failure| anyhow!(failure.lines().join("; ")))?;
    Ok(Machine::of_system(signatures, now))
}

/// Returns the file in which every answer is counted.
pub(super) fn counted_in(settings: &Settings) -> PathBuf {
    folder(settings).join("said.jsonl")
}

fn folder(settings: &Settings) -> PathBuf {
    settings.state.join("guard")
}
