//! Asks on the terminal.

use std::io::{IsTerminal, stdin, stdout};

use anyhow::Context;

use super::failure::{Exit, Failure};
use super::output::print;

/// Asks a question and returns whether the answer is yes; without a terminal nobody is asked, and it
/// is no.
///
/// # Errors
/// The question cannot be written, or the answer cannot be read.
pub(crate) fn said_yes(question: &str) -> Result<bool, Failure> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Ok(false);
    }
    print(&format!("{question}? [y/N] "))?;
    let mut line = String::new();
    let read = stdin().read_line(&mut line).context("failed to read the answer");
    read.map_err(|error| Failure::new(Exit::Failed, error))?;
    Ok(line.trim().eq_ignore_ascii_case("y"))
}
