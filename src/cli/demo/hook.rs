//! A hook that a window of the demo runs, as its agent would.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// A hook that a window runs on request, as its agent would.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hook {
    /// The program.
    pub(super) claimtop: PathBuf,
    pub(super) env: BTreeMap<String, String>,
    /// What it reads.
    pub(super) input: String,
}

impl Hook {
    /// Runs it below this process; returns what it prints.
    ///
    /// # Errors
    /// It cannot be started.
    #[expect(
        clippy::disallowed_methods,
        reason = "the demo starts processes, and each one is our own program"
    )]
    pub(super) fn run(&self) -> std::io::Result<String> {
        let mut command = Command::new(&self.claimtop);
        command.args(["guard", "--for", "claude"]).env_clear().envs(&self.env);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        // A guard that has ended already has nothing to say.
        let _ = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(self.input.as_bytes()));
        let mut output = String::new();
        child.stdout.take().map_or(Ok(0), |mut stdout| stdout.read_to_string(&mut output))?;
        child.wait()?;
        Ok(output)
    }
}
