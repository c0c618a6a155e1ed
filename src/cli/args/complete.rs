//! Completions that know what is there now: each shell asks claimtop for the names that a command takes.

use std::fmt::Write as _;

use clap::ValueEnum;

use super::help;
use crate::cli::settings::values::{CompletionShell, NamedCommand};

/// What bash runs after the generated function.
const BASH: &str = r#"
_claimtop_with_names() {
    _claimtop "$@"
    local word value command="" cur="${COMP_LINE:0:COMP_POINT}" colon=""
    cur="${cur##*[[:space:]]}"
    if [[ "$cur" == -* ]]; then return 0; fi
    case "$3" in
        OPTIONS) return 0 ;;
    esac
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$word" in
            COMMANDS) command="$word"; break ;;
        esac
    done
    if [[ -z "$command" ]]; then return 0; fi
    # What stands before a colon is a word of its own for bash.
    if [[ "$COMP_WORDBREAKS" == *:* && "$cur" == *:* ]]; then colon="${cur%"${cur##*:}"}"; fi
    COMPREPLY=()
    while IFS=$'\t' read -r word value; do
        printf -v word '%q' "$word"
        if [[ "$word" == "$cur"* ]]; then COMPREPLY+=("${word#"$colon"}"); fi
    done < <("$1" completions --names "$command" 2>/dev/null)
    return 0
}
complete -F _claimtop_with_names -o bashdefault -o default claimtop
"#;

const ZSH: &str = r#"_claimtop_names() {
    local -a names
    local one
    for one in "${(@f)$(claimtop completions --names $words[1] 2>/dev/null)}"; do
        [[ -n $one ]] && names+=("${${one%%$'\t'*}//:/\\:}:${one#*$'\t'}")
    done
    _describe -t names name names
}

"#;

/// Adds to generated completions that the commands which take names ask for them.
pub(super) fn with_names(generated: &str, shell: CompletionShell) -> String {
    let commands: Vec<String> = NamedCommand::value_variants().iter().map(|one| one.name()).collect();
    match shell {
        CompletionShell::Bash => {
            let script = BASH.replace("OPTIONS", &options_with_values().join("|"));
            generated.to_owned() + &script.replace("COMMANDS", &commands.join("|"))
        }
        CompletionShell::Fish => fish(generated, &commands),
        CompletionShell::Zsh => zsh(generated),
        CompletionShell::Nushell => nushell(generated, &commands),
        CompletionShell::Elvish => inserted(generated, &commands, "        &'claimtop;NAME'= {\n", ELVISH),
        CompletionShell::PowerShell => {
            inserted(generated, &commands, "        'claimtop;NAME' {\n", POWER_SHELL)
        }
    }
}

/// What follows the head of a command's own completions in elvish.
const ELVISH: &str = r#"            e:claimtop completions --names NAME 2>/dev/null | from-lines | each {|line| cand (str:split &max=2 "\t" $line) }
"#;

/// The same for PowerShell.
const POWER_SHELL: &str = r#"            claimtop completions --names NAME 2>$null | ForEach-Object {
                $name, $what = $_ -split "`t", 2
                $word = if ($name -match '\s') { "'" + $name.Replace("'", "''") + "'" } else { $name }
                [CompletionResult]::new($word, $name, [CompletionResultType]::ParameterValue, $what)
            }
"#;

/// Adds lines after the head of each command.
fn inserted(generated: &str, commands: &[String], head: &str, lines: &str) -> String {
    commands.iter().fold(generated.to_owned(), |text, name| {
        let head = head.replace("NAME", name);
        text.replacen(&head, &(head.clone() + &lines.replace("NAME", name)), 1)
    })
}

fn fish(generated: &str, commands: &[String]) -> String {
    commands.iter().fold(generated.to_owned(), |mut text, name| {
        let _ = writeln!(
            text,
            "complete -c claimtop -n \"__fish_claimtop_using_subcommand {name}\" -f -a \
             \"(claimtop completions --names {name} 2>/dev/null)\""
        );
        text
    })
}

/// In the definition a name has the hint of a user's name, which nothing else of claimtop is.
fn zsh(generated: &str) -> String {
    match generated.split_once("\n\n") {
        Some((head, rest)) => format!("{head}\n\n{ZSH}{}", rest.replace(":_users'", ":_claimtop_names'")),
        None => generated.to_owned(),
    }
}

fn nushell(generated: &str, commands: &[String]) -> String {
    let mut text = generated.to_owned();
    for name in commands {
        let (head, asks) =
            (format!("export extern \"claimtop {name}\" ["), format!("nu-complete claimtop {name} names"));
        let Some((before, block)) = text.split_once(&head) else { continue };
        let completed = ["subject: string", "...subjects: string", "about?: string", "entry?: string"]
            .iter()
            .find(|place| block.split("\n  ]").next().is_some_and(|block| block.contains(**place)));
        let Some(place) = completed else { continue };
        let block = block.replacen(place, &format!("{place}@\"{asks}\""), 1);
        let function = format!(
            "def \"{asks}\" [] {{\n    ^claimtop completions --names {name} | lines | each {{|line|\n      \
             let parts = ($line | split row -n 2 (char tab))\n      \
             {{ value: $parts.0, description: $parts.1 }}\n    }}\n  }}\n\n  "
        );
        text = format!("{before}{function}{head}{block}");
    }
    text
}

/// Returns the options after which a value is expected.
fn options_with_values() -> Vec<String> {
    let mut definition = help::definition();
    definition.build();
    let mut all = Vec::new();
    let named = NamedCommand::value_variants().iter().map(|one| one.name());
    for command in named.filter_map(|name| definition.find_subcommand(&name).cloned()) {
        let taking = command.get_arguments().filter(|one| one.get_action().takes_values());
        all.extend(taking.filter_map(clap::Arg::get_long).map(|long| format!("--{long}")));
    }
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_takes_names_exists() {
        let definition = help::definition();
        for command in NamedCommand::value_variants() {
            assert!(definition.find_subcommand(command.name()).is_some(), "{command:?}");
        }
    }

    #[test]
    fn a_name_after_an_option_with_a_value_is_not_completed() {
        let options = options_with_values();
        assert!(options.contains(&"--confirm".to_owned()) && options.contains(&"--home".to_owned()));
        assert!(!options.contains(&"--json".to_owned()), "{options:?}");
    }
}
