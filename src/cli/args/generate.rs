//! What is made from the definition of the arguments: completions and the manual page.

use clap_complete::Shell;
use clap_complete_nushell::Nushell;

use super::{complete, help, manual};
use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::print;
use crate::cli::settings::values::CompletionShell;

/// Prints the completions for a shell.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn completions(shell: CompletionShell) -> Outcome {
    let mut command = help::definition().mut_subcommand("help", |help| {
        help.mut_arg("topic", |topic| topic.value_parser(help::topics().collect::<Vec<_>>()))
    });
    let mut text = Vec::new();
    let mut generate = |shell: Shell| clap_complete::generate(shell, &mut command, "claimtop", &mut text);
    match shell {
        CompletionShell::Bash => generate(Shell::Bash),
        CompletionShell::Elvish => generate(Shell::Elvish),
        CompletionShell::Fish => generate(Shell::Fish),
        CompletionShell::PowerShell => generate(Shell::PowerShell),
        CompletionShell::Zsh => generate(Shell::Zsh),
        CompletionShell::Nushell => clap_complete::generate(Nushell, &mut command, "claimtop", &mut text),
    }
    print(&complete::with_names(&String::from_utf8_lossy(&text), shell))?;
    Ok(Exit::Fine)
}

/// Prints the manual page, with every command on it.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn man() -> Outcome {
    print(&String::from_utf8_lossy(&manual::render()?))?;
    Ok(Exit::Fine)
}
