//! Where the guard keeps what it has written down.

use std::path::PathBuf;

use crate::cli::settings::Settings;

fn folder(settings: &Settings) -> PathBuf {
    settings.state.join("guard")
}

/// Returns the folder of the ledgers: a folder for each working tree.
pub(super) fn trees(settings: &Settings) -> PathBuf {
    folder(settings).join("trees")
}

/// Returns the file in which every answer is counted.
pub(super) fn said(settings: &Settings) -> PathBuf {
    folder(settings).join("said.jsonl")
}
