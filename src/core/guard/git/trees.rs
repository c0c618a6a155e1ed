//! The working trees that a shell line makes, and the folders that it removes.

use crate::core::guard::folder::joined;
use crate::core::guard::shell::token::is_known;
use crate::core::guard::shell::{Command, ShellContext, commands, name_of};

/// Options of `git worktree add` whose value is an argument of its own (git-worktree(1)).
const WITH_VALUE: [&str; 3] = ["-b", "-B", "--reason"];

/// Returns the folders, absolute, of the working trees that a line makes with `git worktree add`, as far as it names
/// them.
pub(crate) fn trees_added(line: &str, place: &ShellContext<'_>) -> Vec<String> {
    // Most lines make none.
    if !line.contains("worktree") {
        return Vec::new();
    }
    commands(line, place).iter().filter_map(added).collect()
}

/// Returns the folders, absolute, that a line removes with `git worktree remove` or `rm -r`, as far as it names them.
pub(crate) fn folders_removed(line: &str, place: &ShellContext<'_>) -> Vec<String> {
    if !["worktree", "rm"].iter().any(|word| line.contains(word)) {
        return Vec::new();
    }
    commands(line, place).iter().flat_map(removed).collect()
}

fn added(command: &Command) -> Option<String> {
    let (folder, mut words) = worktree(command, "add")?;
    let path = loop {
        match words.next()? {
            option if WITH_VALUE.contains(&option) => drop(words.next()?),
            "--" => break words.next()?,
            option if option.starts_with('-') => {}
            path => break path,
        }
    };
    joined(&folder, Some(path).filter(|path| is_known(path))?)
}

fn removed(command: &Command) -> Vec<String> {
    if let Some((folder, words)) = worktree(command, "remove") {
        return plain(&folder, words);
    }
    let mut words = command.words.iter().map(String::as_str);
    let is_rm = words.next().is_some_and(|program| name_of(program) == "rm");
    let is_recursive = |word: &str| {
        word == "--recursive" || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
    };
    match &command.folder {
        Some(folder) if is_rm && words.clone().any(is_recursive) => plain(folder, words),
        Some(_) | None => Vec::new(),
    }
}

/// Returns the words that are not options, as absolute paths.
fn plain<'a>(folder: &str, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let words = words.filter(|word| !word.starts_with('-') && is_known(word));
    words.filter_map(|word| joined(folder, word)).collect()
}

/// Returns the folder of a call of `git worktree`, and the words after its subcommand.
fn worktree<'a>(
    command: &'a Command,
    what: &str,
) -> Option<(String, impl Iterator<Item = &'a str> + use<'a>)> {
    let mut words = command.words.iter().map(String::as_str);
    if name_of(words.next()?) != "git" {
        return None;
    }
    let mut folder = command.folder.as_deref().unwrap_or_default().to_owned();
    let verb = loop {
        match words.next()? {
            "-C" => folder = joined(&folder, words.next().filter(|to| is_known(to))?)?,
            "-c" => drop(words.next()?),
            option if option.starts_with('-') => {}
            verb => break verb,
        }
    };
    (verb == "worktree" && words.next()? == what).then_some((folder, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let place = ShellContext { folder: "/src/shop", home: None, top_of: &|_| None };
        assert_eq!(trees_added(line, &place), expected, "{line}");
    }

    #[test]
    fn a_line_says_where_it_makes_a_working_tree() {
        check("git worktree add -q --detach /tmp/green-1", &["/tmp/green-1"]);
        check("git worktree add -b fix ../shop-fix origin/main", &["/src/shop-fix"]);
        check("cd /src/other && git -C ./x worktree add -- a && git status", &["/src/other/x/a"]);
        check("git worktree add --reason 'for now' --lock wt", &["/src/shop/wt"]);
    }

    #[test]
    fn a_line_says_which_folders_it_removes() {
        let check = |line: &str, expected: &[&str]| {
            let place = ShellContext { folder: "/src/shop", home: None, top_of: &|_| None };
            assert_eq!(folders_removed(line, &place), expected, "{line}");
        };
        check("git worktree remove --force ../fix", &["/src/fix"]);
        check("cd .. && rm -rf fix other", &["/src/fix", "/src/other"]);
        check("rm -f a.txt", &[]);
        check("rm -rf \"$DIR\"", &[]);
    }

    #[test]
    fn what_makes_none_or_is_not_known_is_left_out() {
        check("git worktree remove ../x", &[]);
        check("git worktree add $(mktemp -d)", &[]);
        check("git worktree add -b fix", &[]);
        check("echo git worktree add x", &[]);
        check("git worktree list", &[]);
    }
}
