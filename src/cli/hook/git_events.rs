//! `git-events`: what has git report its commands to claimtop.

use std::path::Path;

use anyhow::anyhow;

use crate::act::state::git_commands;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::config::Access;
use crate::core::judge::window::agent::Signatures;
use crate::source::os::host;
use crate::source::places::git_events_in;

/// Prints the commands that set it up, or that remove it; changes nothing.
///
/// # Errors
/// The path cannot be written into a shell's line, or the output cannot be written.
pub(crate) fn run(settings: &Settings, remove: bool) -> Outcome {
    let folder = git_events_in(&settings.state);
    print(&if remove { removal(&quoted(&folder)?) } else { setup(&quoted(&settings.state)?, &folder)? })?;
    Ok(Exit::Fine)
}

fn setup(state: &str, folder: &Path) -> Result<String, Failure> {
    let (below, target) = (quoted(folder)?, quoted(&folder.join(""))?);
    Ok(format!(
        "# Git then writes what it runs into a folder of yours: for each command its arguments and times.
# An open claimtop (the screen, events, witness) keeps what can change something for a day, and removes the files.
mkdir -p -m 700 {state} {below}
git config --global trace2.eventTarget {target}
git config --global trace2.eventNesting 1
git config --global trace2.maxFiles 1000
# A trace2.eventTarget of your own is replaced by this; `claimtop git-events --remove` shows how it goes.
"
    ))
}

fn removal(folder: &str) -> String {
    format!(
        "git config --global --unset trace2.eventTarget
git config --global --unset trace2.eventNesting
git config --global --unset trace2.maxFiles
rm -r {folder}
"
    )
}

/// Quotes a path for a shell (POSIX.1-2024, 2.2.2).
fn quoted(path: &Path) -> Result<String, Failure> {
    let plain = path.to_str().filter(|path| !path.contains(|c: char| c.is_control()));
    let plain = plain.ok_or_else(|| Failure::usage(anyhow!("the state folder's name cannot be quoted")))?;
    Ok(format!("'{}'", plain.replace('\'', r"'\''")))
}

/// Takes in what git reports for as long as this process runs, if a person has set that up and claimtop may write.
pub(crate) fn listen(settings: &Settings, signatures: &Signatures) {
    let may_write = settings.effective.config.access == Access::Full && host::owns(&settings.places.home);
    if may_write && let Err(error) = git_commands::listen(&settings.state, signatures.clone()) {
        tracing::warn!(%error, "git's events are not followed");
    }
}
