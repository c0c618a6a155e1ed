//! What a command of git stands for: an alias, or `xargs` with the files that another command lists.

use crate::core::guard::git::invocation::verb_of;
use crate::core::guard::shell::{Command, ShellContext, commands, name_of};

/// Verbs that no alias can have, as git has them itself: those for which the settings need not be asked.
const OWN: [&str; 16] = [
    "add", "branch", "checkout", "clean", "commit", "diff", "fetch", "log", "merge", "pull", "push",
    "rebase", "reset", "show", "stash", "status",
];
/// Verbs that `xargs` may give all changed files to.
const OF_FILES: [&str; 3] = ["checkout", "restore", "rm"];

/// Returns the commands that one stands for, itself if it stands for no other.
pub(super) fn resolved(
    command: &Command,
    place: &ShellContext<'_>,
    alias: &dyn Fn(&str) -> Option<String>,
) -> Vec<Command> {
    of_xargs(command)
        .map(|command| vec![command])
        .or_else(|| of_alias(command, place, alias))
        .unwrap_or_else(|| vec![command.clone()])
}

/// Returns the command that `xargs` runs, with a pathspec of the whole tree for the files that it is given.
fn of_xargs(command: &Command) -> Option<Command> {
    let (program, rest) = command.words.split_first()?;
    if name_of(program) != "xargs" {
        return None;
    }
    let begin = rest.iter().position(|word| name_of(word) == "git")?;
    let words = rest.get(begin..)?;
    let is_of_files = words.get(1).is_some_and(|verb| OF_FILES.contains(&verb.as_str()));
    let words = words.iter().cloned().chain([":/".to_owned()]).collect();
    is_of_files.then(|| Command { words, folder: command.folder.clone() })
}

/// Returns the commands that an alias stands for: words of git's, or, after `!`, a shell line run in the top of the tree.
fn of_alias(
    command: &Command,
    place: &ShellContext<'_>,
    alias: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<Command>> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let of = verb_of(&words, command.folder.as_deref()?)?;
    let meaning = Some(of.verb).filter(|verb| !OWN.contains(verb)).and_then(alias)?;
    let top = (place.top_of)(&of.folder);
    let (line, folder) = match meaning.strip_prefix('!') {
        Some(line) => (line.to_owned(), top.as_deref()?),
        None => (format!("git {meaning}"), of.folder.as_str()),
    };
    let mut found = commands(&line, &ShellContext { folder, home: place.home, top_of: place.top_of });
    // What follows the alias is added to its last command.
    found.last_mut()?.words.extend(of.rest.iter().map(|word| (*word).to_owned()));
    Some(found)
}
