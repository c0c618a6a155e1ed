//! The calls of git that reach into what others have not committed.

use crate::core::guard::folder::joined;
use crate::core::guard::shell::{Command, commands};

/// One such call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitCall {
    /// The folder that it works in, absolute.
    pub(crate) folder: String,
    /// What it does, such as `stash`.
    pub(crate) verb: &'static str,
    /// Where it reaches.
    pub(crate) reach: Reach,
    /// Which files it takes there.
    pub(crate) takes: Takes,
}

/// Which files a call of git takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Those that git knows.
    pub(crate) tracked: bool,
    /// Those that it neither knows nor ignores.
    pub(crate) untracked: bool,
    /// Those that it ignores.
    pub(crate) ignored: bool,
}

impl Takes {
    pub(crate) const ALL: Self = Self { tracked: true, untracked: true, ignored: true };
    /// All that somebody may want to commit.
    pub(crate) const WORK: Self = Self { ignored: false, ..Self::ALL };
    const TRACKED: Self = Self { tracked: true, untracked: false, ignored: false };
}

/// What a call of git reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The whole working tree.
    Tree,
    /// These paths, absolute, and what lies below them.
    Paths(Vec<String>),
    /// These paths if they are there, and else, as they name a commit, the whole working tree.
    PathsOrTree(Vec<String>),
}

/// Stands for a word that only the shell knows; no argument of a program can have this byte.
const UNKNOWN: &str = "\0";

/// Returns the calls of git in a shell line that reach into what others have not committed.
pub(crate) fn git_calls(line: &str, folder: &str) -> Vec<GitCall> {
    // Most lines have nothing to do with it.
    if !line.contains("git") {
        return Vec::new();
    }
    commands(line, folder).iter().filter_map(call).collect()
}

fn call(command: &Command) -> Option<GitCall> {
    let words: Vec<&str> = command.words.iter().map(|word| word.as_deref().unwrap_or(UNKNOWN)).collect();
    let (program, mut rest) = words.split_first()?;
    if program.rsplit('/').next() != Some("git") {
        return None;
    }
    let mut folder = command.folder.clone();
    let verb = loop {
        let (first, after) = rest.split_first()?;
        rest = match *first {
            "-C" => {
                let (to, after) = after.split_first()?;
                folder = joined(&folder, to)?;
                after
            }
            "-c" => after.get(1..)?,
            "-p" | "-P" | "--paginate" | "--no-pager" | "--no-optional-locks" | "--literal-pathspecs" => {
                after
            }
            option if option.starts_with('-') || option == UNKNOWN => return None,
            verb => {
                rest = after;
                break verb;
            }
        };
    };
    if rest.iter().any(|word| matches!(*word, "-h" | "--help")) {
        return None;
    }
    // What is not known is not judged, but for the text of a message.
    let arguments = Arguments::of(rest, &folder);
    if arguments.all_paths().contains(&UNKNOWN) {
        return None;
    }
    let (verb, reach) = reach_of(verb, &arguments)?;
    let takes = takes(verb, &arguments);
    Some(match (verb, &reach) {
        // It is another working tree that goes.
        ("worktree remove", Reach::Paths(paths)) => {
            GitCall { folder: paths.first()?.clone(), verb, reach: Reach::Tree, takes: Takes::ALL }
        }
        _ => GitCall { folder, verb, reach, takes },
    })
}

/// Returns which files a verb takes.
fn takes(verb: &str, of: &Arguments<'_>) -> Takes {
    match verb {
        "clean" => Takes {
            tracked: false,
            untracked: !of.has_short('X'),
            ignored: of.has_short('x') || of.has_short('X'),
        },
        "stash" if of.has(&["--all"]) || of.has_short('a') => Takes::ALL,
        "stash" if of.has(&["--include-untracked"]) || of.has_short('u') => Takes::WORK,
        "add -A" if of.has(&["--force"]) || of.has_short('f') => Takes::ALL,
        "add -A" if !(of.has(&["--update"]) || of.has_short('u')) => Takes::WORK,
        _ => Takes::TRACKED,
    }
}

/// What stands behind a verb.
struct Arguments<'a> {
    folder: &'a str,
    /// The options, without the values that are words of their own.
    options: Vec<&'a str>,
    /// The other words before `--`.
    words: Vec<&'a str>,
    /// Those after it, if it is there.
    paths: Option<Vec<&'a str>>,
}

/// Options of the verbs below whose value is the next word.
const WITH_VALUE: [&str; 22] = [
    "-m", "--message", "-F", "--file", "-C", "-c", "--author", "--date", "-s", "--source", "-b", "-B",
    "--orphan", "-X", "--strategy-option", "--strategy", "--onto", "-e", "--exclude", "-x", "--exec",
    "--pathspec-from-file",
];

impl<'a> Arguments<'a> {
    fn of(rest: &[&'a str], folder: &'a str) -> Self {
        let mut found = Self { folder, options: Vec::new(), words: Vec::new(), paths: None };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            if *word == "--" {
                found.paths = Some(rest.copied().collect());
                break;
            }
            if word.starts_with('-') && word.len() > 1 {
                found.options.push(word);
                // A `-x` of `clean` and a `-s` of others have none; then a word is missed, never invented.
                if WITH_VALUE.contains(word) || is_short_with_message(word) {
                    rest.next();
                }
            } else {
                found.words.push(word);
            }
        }
        found
    }

    fn has(&self, long: &[&str]) -> bool {
        self.options.iter().any(|option| long.contains(option))
    }

    /// Returns whether a short option is given, alone or with others.
    fn has_short(&self, letter: char) -> bool {
        let is_short = |option: &&&str| !option.starts_with("--");
        let given = |option: &&str| {
            // What follows an `m` is the message.
            option.chars().skip(1).take_while(|c| !matches!(c, 'm' | 'F')).any(|c| c == letter)
        };
        self.options.iter().filter(is_short).any(given)
    }

    fn absolute(&self, paths: &[&str]) -> Option<Vec<String>> {
        // Words that begin with `:` mean more to git than a path.
        let path = |path: &&str| if path.starts_with(':') { None } else { joined(self.folder, path) };
        paths.iter().map(path).collect()
    }

    /// Reaches the paths that are given, or the whole tree.
    fn paths_or_tree(&self, paths: &[&str]) -> Option<Reach> {
        if paths.is_empty() { Some(Reach::Tree) } else { self.absolute(paths).map(Reach::Paths) }
    }

    fn all_paths(&self) -> Vec<&'a str> {
        self.words.iter().chain(self.paths.iter().flatten()).copied().collect()
    }
}

/// Returns whether a cluster of short options ends with the one for a message, as in `-am`.
fn is_short_with_message(word: &str) -> bool {
    !word.starts_with("--") && word.len() > 2 && word.ends_with('m')
}

/// Returns what a verb reaches, if that is more than its own; `None` for what loses nobody anything.
fn reach_of(verb: &str, of: &Arguments<'_>) -> Option<(&'static str, Reach)> {
    let first = of.words.first().copied();
    let is_forced = of.has(&["--force"]) || of.has_short('f');
    match verb {
        // It names the files that were edited, and no more.
        "checkout"
            if of.paths.is_none() && of.options.is_empty() && matches!(of.words[..], ["HEAD" | "@"]) =>
        {
            None
        }
        "checkout" => {
            let reach = match (&of.paths, of.words.as_slice()) {
                (Some(paths), _) if !paths.is_empty() => of.absolute(paths).map(Reach::Paths),
                (_, words @ [_, ..]) if !of.has(&["-b", "-B", "--orphan", "--detach"]) => {
                    of.absolute(words).map(Reach::PathsOrTree)
                }
                (_, _) => Some(Reach::Tree),
            };
            Some(("checkout", reach?))
        }
        "switch" => Some(("switch", Reach::Tree)),
        "reset" if of.has(&["--hard", "--merge", "--keep"]) => Some(("reset", Reach::Tree)),
        "stash" => match first {
            None | Some("save") => {
                Some(("stash", of.paths_or_tree(of.paths.as_deref().unwrap_or_default())?))
            }
            Some("push") => {
                let mut paths = of.all_paths();
                paths.remove(0);
                Some(("stash", of.paths_or_tree(&paths)?))
            }
            Some(_) => None,
        },
        "clean" if is_forced && !of.has(&["--dry-run"]) && !of.has_short('n') => {
            // Without paths it begins where it is.
            let paths = of.all_paths();
            Some(("clean", of.paths_or_tree(if paths.is_empty() { &["."] } else { &paths })?))
        }
        "restore" => {
            let is_index = of.has(&["--staged"]) || of.has_short('S');
            let is_tree = !is_index || of.has(&["--worktree"]) || of.has_short('W');
            if is_tree { Some(("restore", of.paths_or_tree(&of.all_paths())?)) } else { None }
        }
        "rebase" | "merge" => {
            let is_under_way =
                ["--continue", "--abort", "--quit", "--skip", "--edit-todo", "--show-current-patch"];
            let verb = if verb == "merge" { "merge" } else { "rebase" };
            (!of.has(&is_under_way)).then_some((verb, Reach::Tree))
        }
        "commit" if of.has(&["--all"]) || of.has_short('a') => {
            (!of.has(&["--dry-run"])).then_some(("commit -a", Reach::Tree))
        }
        "add" if of.has(&["--dry-run"]) || of.has_short('n') => None,
        "add" if of.has(&["--all", "--update"]) || of.has_short('A') || of.has_short('u') => {
            Some(("add -A", of.paths_or_tree(&of.all_paths())?))
        }
        "add" if of.all_paths().contains(&".") => {
            Some(("add -A", Reach::Paths(of.absolute(&of.all_paths())?)))
        }
        // Without force git removes nothing that was edited.
        "rm" if is_forced && !of.has(&["--cached", "--dry-run"]) && !of.has_short('n') => {
            Some(("rm -f", Reach::Paths(of.absolute(&of.all_paths())?)))
        }
        "read-tree" if of.has(&["--reset"]) && of.has_short('u') => Some(("read-tree", Reach::Tree)),
        "pull" if of.has(&["--autostash"]) => Some(("pull --autostash", Reach::Tree)),
        "worktree" if first == Some("remove") && is_forced => {
            Some(("worktree remove", Reach::Paths(of.absolute(of.words.get(1..)?)?)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let told = |call: &GitCall| {
            let reach = match &call.reach {
                Reach::Tree => "all".to_owned(),
                Reach::Paths(paths) => paths.join(" "),
                Reach::PathsOrTree(paths) => format!("{} or all", paths.join(" ")),
            };
            let Takes { tracked, untracked, ignored } = call.takes;
            let takes = match (tracked, untracked, ignored) {
                (true, false, false) => "",
                (true, true, false) => "with new files",
                (true, true, true) => "with new and ignored files",
                (false, true, false) => "of new files",
                (false, true, true) => "of new and ignored files",
                (false, false, true) => "of ignored files",
                odd => panic!("{odd:?}"),
            };
            format!("{} in {}: {reach} {takes}", call.verb, call.folder).trim_end().to_owned()
        };
        let found: Vec<String> = git_calls(line, "/w").iter().map(told).collect();
        assert_eq!(found.join("; "), expected, "{line}");
    }

    #[test]
    fn what_takes_the_whole_tree_is_known() {
        check("git stash", "stash in /w: all");
        check("git -C x stash push -u", "stash in /w/x: all with new files");
        check("git --no-pager -c a=b stash save wip", "stash in /w: all");
        check("git checkout main", "checkout in /w: /w/main or all");
        check("git checkout -b new", "checkout in /w: all");
        check("git checkout -b new origin/main", "checkout in /w: all");
        check("git switch -c new", "switch in /w: all");
        check("git reset --hard HEAD~1", "reset in /w: all");
        check("git clean -fdx", "clean in /w: /w of new and ignored files");
        check("git clean -f -x", "clean in /w: /w of new and ignored files");
        check("git clean -fdX", "clean in /w: /w of ignored files");
        check("git stash -a", "stash in /w: all with new and ignored files");
        check("git add -Af", "add -A in /w: all with new and ignored files");
        check("git restore .", "restore in /w: /w");
        check("git rebase main && git merge x", "rebase in /w: all; merge in /w: all");
        check("git commit -am 'x y'", "commit -a in /w: all");
        check("git commit --all -m x", "commit -a in /w: all");
        check("git commit -am \"$(cat <<'EOF'\nx\nEOF\n)\"", "commit -a in /w: all");
        check("git add -A", "add -A in /w: all with new files");
        check("git add .", "add -A in /w: /w with new files");
        check("git read-tree -u --reset HEAD", "read-tree in /w: all");
        check("git pull --rebase --autostash", "pull --autostash in /w: all");
        check("git checkout -f HEAD", "checkout in /w: /w/HEAD or all");
        check("git worktree remove --force ../x", "worktree remove in /x: all with new and ignored files");
        check("/usr/bin/git stash", "stash in /w: all");
    }

    #[test]
    fn what_takes_paths_takes_only_these() {
        check("git checkout -- a.rs b.rs", "checkout in /w: /w/a.rs /w/b.rs");
        check("git checkout HEAD~1 -- a.rs", "checkout in /w: /w/a.rs");
        check("git restore -s HEAD~1 src", "restore in /w: /w/src");
        check("git stash push -m wip -- a.rs", "stash in /w: /w/a.rs");
        check("git stash push a.rs", "stash in /w: /w/a.rs");
        check("git clean -fd build", "clean in /w: /w/build of new files");
        check("git rm -rf src a.rs", "rm -f in /w: /w/src /w/a.rs");
    }

    #[test]
    fn what_loses_nobody_anything_passes() {
        for line in [
            "git checkout HEAD", "git checkout @", "git rm a.rs", "git rm -f --cached a.rs",
            "git rm -nf a.rs", "git read-tree HEAD", "git pull", "git pull --rebase", "git status",
            "git diff", "git log", "git show stash", "git add a.rs", "git commit -m 'stash -a'",
            "git commit -ma", "git stash list", "git stash pop", "git stash show -p", "git reset",
            "git reset --soft HEAD~1", "git clean -nfd", "git clean -d", "git restore --staged .",
            "git rebase --continue", "git merge --abort", "git worktree add ../x",
            "git worktree remove ../x", "git branch -D x", "git checkout --help", "gits stash",
            "echo git stash", "git --git-dir=/x stash", "git --work-tree /x stash", "GIT_DIR=/x git stash",
            "git checkout $branch", "git restore ':(top)a'", "grep 'git stash' x",
        ] {
            check(line, "");
        }
    }
}
