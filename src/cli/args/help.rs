//! The help: one screen of all commands, and one page for the options that they share.

use std::ffi::OsString;

use anyhow::anyhow;
use clap::{Args, CommandFactory, FromArgMatches};

use super::{Arguments, Options};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::print;
use crate::core::model::text::shown;

/// Commands for one purpose.
struct Group {
    title: &'static str,
    /// The commands that are shown with what they do.
    shown: &'static [&'static str],
    /// The commands that are only named.
    named: &'static [&'static str],
}

/// Every command, by what it is for.
const GROUPS: [Group; 4] = [
    Group {
        title: "Look",
        shown: &["now", "ls", "doctor", "explain", "leftovers", "journal"],
        named: &["events", "wait", "foresee", "report", "stats", "statusline", "machines"],
    },
    Group {
        title: "Act",
        shown: &["release", "stop", "rescue", "undo"],
        named: &["bring-back", "clean", "park", "migrate", "hold"],
    },
    Group {
        title: "Set up",
        shown: &["setup", "config", "demo"],
        named: &["mcp", "hook", "git-events", "formats", "completions", "man", "help"],
    },
    Group {
        title: "Advanced",
        shown: &[],
        named: &["alive", "guard", "bind", "context-id", "record", "replay", "fleet", "witness", "stream"],
    },
];

/// The first line of help and manual.
const ABOUT: &str = "See every coding-agent window, what it claims, and what is dead or in collision.";

/// The exit codes, for help and manual.
pub(super) const EXITS: &str = "0 fine, 1 problems (doctor), 2 usage, 3 refused, 4 failed, 70 a bug.";

/// Where the shared options are described.
const ELSEWHERE: &str = "`claimtop help options` shows the options of every command.";

/// Returns the definition of the arguments: the help of a command shows the command's own options only.
pub(crate) fn definition() -> clap::Command {
    let definition = Arguments::command();
    let screen = screen(&definition);
    let hidden = definition.mut_args(|argument| match argument.is_global_set() {
        true => argument.hide_short_help(true).hide_long_help(true),
        false => argument,
    });
    hidden.mut_subcommands(point_to_options).override_help(screen)
}

/// Makes the help of a command, and of those below it, name the page of the shared options.
fn point_to_options(command: clap::Command) -> clap::Command {
    command.after_help(ELSEWHERE).mut_subcommands(point_to_options)
}

/// Parses the arguments of a process.
///
/// # Errors
/// They are wrong, or ask for help or the version.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Arguments, clap::Error> {
    Arguments::from_arg_matches(&definition().try_get_matches_from(arguments)?)
}

/// Prints the help for a command, or one of the pages that are about all of them.
///
/// # Errors
/// No command has this name, or the output cannot be written.
pub(crate) fn run(topic: &[String]) -> Outcome {
    let text = match topic {
        [] => screen(&definition()),
        [page] if page == "options" => options_page(),
        [page] if page == "commands" => commands_page(&definition()),
        path => command_page(path)?,
    };
    print(&format!("{}\n", text.trim_end()))?;
    Ok(Exit::Fine)
}

/// Returns the help for one command, given by its name and the names of those below it.
fn command_page(path: &[String]) -> Result<String, Failure> {
    let mut definition = definition();
    definition.build();
    let found = path.iter().try_fold(&mut definition, |command, name| command.find_subcommand_mut(name));
    let Some(command) = found else {
        let error = anyhow!("no command is called {}", shown(&path.join(" ")));
        return Err(Failure::usage(error).hint("`claimtop help commands` lists them"));
    };
    Ok(command.render_long_help().to_string())
}

/// Returns the page of the options that every command takes.
fn options_page() -> String {
    let command = Options::augment_args(clap::Command::new("claimtop"));
    let about = "Every command takes these options, before or after its name.";
    let command = command.about(about).disable_help_flag(true).max_term_width(100);
    command.help_template("{about}\n\n{all-args}").render_help().to_string()
}

/// Returns the commands on one screen of 80 columns and 24 lines.
fn screen(definition: &clap::Command) -> String {
    let mut text =
        format!("{ABOUT}\nUsage: claimtop [OPTIONS] [COMMAND]    Without a command, the full screen.\n\n");
    for group in &GROUPS {
        let mut title = group.title;
        for name in group.shown {
            text += &format!("{title:8} {name:10} {}\n", about(definition, name));
            title = "";
        }
        if !group.shown.is_empty() {
            text += &format!("{:8} also {}\n", "", group.named.join(", "));
        } else {
            text += &format!("{title:8} {}\n", group.named.join(", "));
        }
    }
    text += "\nHelp: claimtop help COMMAND, claimtop help commands, claimtop help options\n";
    text + "Exit codes: " + EXITS
}

/// Returns every command with what it does.
fn commands_page(definition: &clap::Command) -> String {
    let mut text = String::new();
    for group in &GROUPS {
        text += &format!("{}:\n", group.title);
        for name in names(group) {
            text += &format!("  {name:12} {}\n", about(definition, name));
        }
        text.push('\n');
    }
    text + "Help: claimtop help COMMAND, claimtop help options"
}

fn names(group: &Group) -> impl Iterator<Item = &'static str> {
    group.shown.iter().chain(group.named).copied()
}

/// Returns every command in the order of the help.
pub(super) fn commands() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(names)
}

/// Returns what `help` can be asked about.
pub(super) fn topics() -> impl Iterator<Item = &'static str> {
    commands().chain(["commands", "options"])
}

/// Returns what a command does, in one line.
fn about(definition: &clap::Command, name: &str) -> String {
    let about = definition.find_subcommand(name).and_then(clap::Command::get_about);
    about.map_or_else(String::new, ToString::to_string)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_help_is_one_screen() {
        let screen = screen(&definition());
        assert!(screen.lines().count() < 24, "{screen}");
        for page in [screen, commands_page(&definition())] {
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
        }
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let listed: Vec<&str> = commands().collect();
        let definition = definition();
        let defined: BTreeSet<&str> = definition.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(listed.len(), defined.len());
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), defined);
    }

    #[test]
    fn the_help_of_a_command_has_its_own_options_only() {
        let page = command_page(&["release".to_owned()]).unwrap();
        assert!(page.contains("--dry-run") && page.contains(ELSEWHERE) && !page.contains("--home"), "{page}");
        let below = command_page(&["guard".to_owned(), "check".to_owned()]).unwrap();
        assert!(below.contains("claimtop guard check") && !below.contains("--home"), "{below}");
    }

    #[test]
    fn the_shared_options_have_a_page_of_their_own() {
        let page = options_page();
        let definition = definition();
        for argument in definition.get_arguments().filter(|argument| argument.is_global_set()) {
            assert!(page.contains(&format!("--{}", argument.get_long().unwrap())), "{argument:?}");
        }
    }
}
