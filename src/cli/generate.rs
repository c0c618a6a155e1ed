//! What is made from the definition of the arguments: completions and the manual page.

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Arguments;
use super::failure::{Exit, Outcome};
use super::output::print;

/// Prints the completions for a shell.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn completions(shell: Shell) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "claimtop", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Fine)
}

/// Prints the manual page, with every command on it.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn man() -> Outcome {
    let mut text = Vec::new();
    clap_mangen::Man::new(Arguments::command().flatten_help(true)).render(&mut text)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Fine)
}
