//! The manual page: every command with its options, the keys of the screen, files and examples.

use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use super::help;
use crate::app::keys::keymap::BINDINGS;

/// What is kept where; a state folder is given by `--state` or `XDG_STATE_HOME`.
const FILES: [(&str, &str); 12] = [
    (
        "~/.config/claimtop/config.toml",
        "What a person sets; claimtop config prints each value and its origin.",
    ),
    ("~/.config/claimtop/formats/", "Formats of your own, described in TOML."),
    ("~/.local/state/claimtop/", "The state folder: all that claimtop itself keeps."),
    ("STATE/journal.jsonl", "What was done, and what undoes it."),
    ("STATE/parked/", "Files that were put aside, until journal --prune removes them."),
    ("STATE/bindings/", "Which process runs which session, as hooks have reported it."),
    ("STATE/guard/", "What each guarded window has edited, and what the guard has answered."),
    ("STATE/kept/", "Versions of files that windows wrote, for rescue."),
    ("STATE/git-events/", "The commands that git has reported."),
    ("STATE/history.ring, STATE/recordings/", "What happened, and what was recorded from the screen."),
    ("STATE/view.json", "The view, order, columns and filter of the last screen."),
    ("STATE/log/claimtop.log", "The log, if --log-level asks for one."),
];

const EXAMPLES: [(&str, &str); 10] = [
    ("claimtop", "Open the full screen."),
    ("claimtop now", "Print what needs you, the most harmful first."),
    ("claimtop explain shop-cart", "Print the evidence for the window of this name."),
    ("claimtop release w-7bf7125a --dry-run", "Show what a release would do."),
    ("claimtop undo", "Undo the newest entry of the journal."),
    ("claimtop rescue src/cart.rs --diff", "Show how each version of a file differs from the file now."),
    ("claimtop ls --json | jq '.windows[].key'", "Print the key of each window."),
    ("claimtop doctor >/dev/null || echo problems", "Look for problems in a script."),
    ("claimtop --on ssh:devbox now", "Look at another machine."),
    ("source <(claimtop completions bash)", "Complete commands, names and keys in bash."),
];

/// Renders the manual page.
///
/// # Errors
/// The text cannot be written.
pub(super) fn render() -> std::io::Result<Vec<u8>> {
    let mut definition = help::definition();
    definition.build();
    let mut text = Vec::new();
    let man = Man::new(definition.clone());
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    roff.text([bold("claimtop"), roman(" [OPTIONS] [COMMAND]")]);
    roff.to_writer(&mut text)?;
    man.render_description_section(&mut text)?;
    let mut roff = Roff::new();
    commands(&mut roff, &definition);
    roff.to_writer(&mut text)?;
    man.render_options_section(&mut text)?;
    let mut roff = Roff::new();
    keys(&mut roff);
    pairs(&mut roff, "FILES", &FILES);
    roff.control("SH", ["EXIT STATUS"]);
    roff.text([roman(help::EXITS)]);
    pairs(&mut roff, "EXAMPLES", &EXAMPLES);
    roff.to_writer(&mut text)?;
    man.render_version_section(&mut text)?;
    Ok(text)
}

fn commands(roff: &mut Roff, definition: &clap::Command) {
    roff.control("SH", ["COMMANDS"]);
    for name in help::commands() {
        if let Some(command) = definition.find_subcommand(name) {
            one_command(roff, command);
        }
    }
}

/// Writes a command, and then each one below it.
fn one_command(roff: &mut Roff, command: &clap::Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let own = || command.get_arguments().filter(|one| !one.is_global_set() && !one.is_hide_set());
    let own = || own().filter(|one| one.get_id() != "help");
    let places: Vec<String> = own().filter(|one| one.is_positional()).map(ToString::to_string).collect();
    let has_options = own().any(|one| !one.is_positional());
    let options = if has_options { " [OPTIONS]" } else { "" };
    let places: String = places.iter().map(|place| format!(" {place}")).collect();
    roff.control("SS", [format!("{name}{options}{places}").as_str()]);
    if let Some(about) = command.get_long_about().or_else(|| command.get_about()) {
        roff.text([roman(about.to_string().replace("\n\n", ". "))]);
    }
    for argument in own() {
        roff.control("TP", []);
        roff.text(title(argument));
        roff.text([roman(explanation(argument))]);
    }
    command.get_subcommands().filter(|below| !below.is_hide_set()).for_each(|below| one_command(roff, below));
}

/// Returns how an argument is written.
fn title(argument: &clap::Arg) -> Vec<Inline> {
    let Some(long) = argument.get_long() else { return vec![italic(argument.to_string())] };
    let mut title = vec![bold(format!("--{long}"))];
    if argument.get_action().takes_values() {
        for name in argument.get_value_names().into_iter().flatten() {
            title.extend([roman(" "), italic(name.to_string())]);
        }
    }
    title
}

/// Returns what an argument means, with the values that it takes.
fn explanation(argument: &clap::Arg) -> String {
    let text = argument.get_help().map_or_else(String::new, ToString::to_string);
    let takes_values = argument.get_action().takes_values();
    let values =
        argument.get_possible_values().into_iter().filter(|value| takes_values && !value.is_hide_set());
    let values: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
    let default: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let default = if takes_values { default } else { Vec::new() };
    let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    let default = if default.is_empty() { String::new() } else { format!(" [{}]", default.join(", ")) };
    format!("{text}{values}{default}")
}

/// Writes the keys of the screen, from the table that dispatches them.
fn keys(roff: &mut Roff) {
    roff.control("SH", ["KEYS"]);
    roff.text([roman(
        "What a key means depends on what is selected and open; ? lists those that do something now.",
    )]);
    for binding in BINDINGS.iter().filter(|binding| !binding.help.is_empty()) {
        pair(roff, binding.keys, binding.help);
    }
}

fn pairs(roff: &mut Roff, section: &str, pairs: &[(&str, &str)]) {
    roff.control("SH", [section]);
    pairs.iter().for_each(|(name, meaning)| pair(roff, name, meaning));
}

fn pair(roff: &mut Roff, name: &str, meaning: &str) {
    roff.control("TP", []);
    roff.text([bold(name)]);
    roff.text([roman(meaning)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_every_command_option_and_key() {
        let text = String::from_utf8(render().unwrap()).unwrap().replace("\\*(Aq", "'").replace('\\', "");
        let has = |part: &str| assert!(text.contains(part), "{part} is missing:\n{text}");
        for section in ["COMMANDS", "OPTIONS", "KEYS", "FILES", "\"EXIT STATUS\"", "EXAMPLES"] {
            has(&format!("\n.SH {section}\n"));
        }
        let definition = help::definition();
        for command in definition.get_subcommands() {
            has(&format!(".SS \"claimtop {}", command.get_name()));
            for argument in command.get_arguments().filter(|one| !one.is_hide_set()) {
                has(&argument.get_long().map_or_else(|| argument.to_string(), |long| format!("--{long}")));
            }
        }
        has(".SS \"claimtop guard check <PATH>");
        BINDINGS.iter().for_each(|binding| has(binding.help));
    }
}
