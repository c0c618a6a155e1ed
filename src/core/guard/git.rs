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
    /// Patterns of what it leaves all the same, as in a file of what git ignores.
    pub(crate) spares: Vec<String>,
    /// What of these is in git's folder while there is anything to end; nothing where it does not end anything.
    pub(crate) during: &'static [&'static str],
}

/// Which files a call of git takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Those that git knows.
    pub(crate) tracked: Tracked,
    /// Those that it neither knows nor ignores.
    pub(crate) untracked: bool,
    /// Those that it ignores.
    pub(crate) ignored: bool,
    /// Whether it takes files that git does not know also from folders of which it knows none.
    pub(crate) in_new_folders: bool,
}

/// Which of the edited files that git knows a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracked {
    None,
    /// All that are not as the commit has them.
    Changed,
    /// Of these those that the commit has at all.
    InCommit,
    /// Those of which the index has another content than the commit.
    Staged,
    /// Those that are not as the index has them.
    Unstaged,
}

impl Takes {
    pub(crate) const ALL: Self =
        Self { tracked: Tracked::Changed, untracked: true, ignored: true, in_new_folders: true };
    /// All that somebody may want to commit.
    pub(crate) const WORK: Self = Self { ignored: false, ..Self::ALL };

    const fn known(tracked: Tracked) -> Self {
        Self { tracked, untracked: false, ..Self::WORK }
    }
}

/// What a call of git reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The whole working tree.
    Tree,
    /// These paths, absolute, and what lies below them.
    Paths(Vec<String>),
    /// These paths if they are there. Else the first names a commit, and it reaches the others, or else the whole
    /// working tree.
    PathsOrTree(Vec<String>),
}

/// Returns whether a path may stand for others as well (glob(7)).
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

impl GitCall {
    /// Settles what it reaches by what is there, or known to git.
    pub(crate) fn among(self, is_there: impl Fn(&str) -> bool) -> Self {
        let Reach::PathsOrTree(mut paths) = self.reach else { return self };
        // A commit's name has none of these characters.
        let is_path = |path: &String| is_there(path) || is_pattern(path);
        let (reach, tracked) = match paths.len() {
            _ if paths.iter().all(is_path) => (Reach::Paths(paths), Tracked::Unstaged),
            0 | 1 => (Reach::Tree, self.takes.tracked),
            _ => (Reach::Paths(paths.split_off(1)), Tracked::InCommit),
        };
        Self { reach, takes: Takes { tracked, ..self.takes }, ..self }
    }
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
    let arguments = Arguments::of(verb, rest, &folder);
    let is_elsewhere = arguments.options.iter().any(|option| option.starts_with("--pathspec-from-file"));
    if arguments.all_paths().contains(&UNKNOWN) || arguments.excluded.contains(&UNKNOWN) || is_elsewhere {
        return None;
    }
    let ends = ends(verb, &arguments);
    let during = ends.map_or(&[][..], |(_, _, during)| during);
    let (verb, reach, takes) = match ends {
        Some((verb, tracked, _)) => (verb, Reach::Tree, Takes::known(tracked)),
        None => reach_of(verb, &arguments)?,
    };
    let spares = arguments.excluded.iter().map(|pattern| (*pattern).to_owned()).collect();
    Some(match (verb, &reach) {
        // It is another working tree that goes.
        ("worktree remove", Reach::Paths(paths)) => {
            let folder = paths.first()?.clone();
            GitCall { folder, verb, reach: Reach::Tree, takes: Takes::ALL, spares, during }
        }
        _ => GitCall { folder, verb, reach, takes, spares, during },
    })
}

/// What stands behind a verb.
struct Arguments<'a> {
    folder: &'a str,
    /// The long options, without values that are words of their own.
    options: Vec<&'a str>,
    /// The letters of the short ones.
    letters: Vec<char>,
    /// The other words before `--`.
    words: Vec<&'a str>,
    /// Those after it, if it is there.
    paths: Option<Vec<&'a str>>,
    /// The patterns of what `clean` leaves.
    excluded: Vec<&'a str>,
}

/// The options of a verb that have a value: letters of which it is the rest of the word or the next one, letters of
/// which it can only be the rest of the word, and words of which it is the next.
struct Valued(&'static str, &'static str, &'static [&'static str]);

fn valued(verb: &str) -> Valued {
    match verb {
        "commit" => Valued(
            "mFcCt",
            "uS",
            &[
                "--message", "--file", "--author", "--date", "--template", "--fixup", "--squash",
                "--cleanup", "--reuse-message", "--reedit-message", "--trailer",
            ],
        ),
        "stash" => Valued("m", "", &["--message"]),
        "checkout" => Valued("bB", "t", &["--orphan", "--conflict"]),
        "switch" => Valued("cC", "t", &["--create", "--force-create", "--orphan", "--conflict"]),
        "restore" => Valued("s", "", &["--source", "--conflict"]),
        "clean" => Valued("e", "", &["--exclude"]),
        "rebase" => {
            Valued("xsX", "CS", &["--exec", "--strategy", "--strategy-option", "--onto", "--whitespace"])
        }
        "merge" => Valued(
            "mFsX",
            "S",
            &["--message", "--file", "--strategy", "--strategy-option", "--into-name", "--cleanup"],
        ),
        _ => Valued("", "", &[]),
    }
}

impl<'a> Arguments<'a> {
    fn of(verb: &str, rest: &[&'a str], folder: &'a str) -> Self {
        let Valued(with_value, with_rest, long) = valued(verb);
        let (mut options, mut letters, mut words) = (Vec::new(), Vec::new(), Vec::new());
        let (mut paths, mut excluded) = (None, Vec::new());
        let mut rest = rest.iter().copied();
        while let Some(word) = rest.next() {
            if word == "--" {
                paths = Some(rest.collect());
                break;
            }
            if word.starts_with("--") {
                options.push(word);
                if word == "--exclude" {
                    excluded.extend(rest.next());
                } else if long.contains(&word) {
                    rest.next();
                } else {
                    excluded.extend(word.strip_prefix("--exclude="));
                }
            } else if let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
                let ends =
                    |(_, letter): &(usize, char)| with_value.contains(*letter) || with_rest.contains(*letter);
                let end = cluster.char_indices().find(ends);
                let own = end.map_or(cluster, |(at, letter)| {
                    cluster.get(..at + letter.len_utf8()).unwrap_or_default()
                });
                letters.extend(own.chars());
                let value = cluster.get(own.len()..).filter(|value| !value.is_empty());
                let value = match end {
                    Some((_, letter)) if with_value.contains(letter) => value.or_else(|| rest.next()),
                    _ => None,
                };
                excluded.extend(value.filter(|_| verb == "clean"));
            } else {
                words.push(word);
            }
        }
        Self { folder, options, letters, words, paths, excluded }
    }

    fn has(&self, long: &[&str]) -> bool {
        self.options.iter().any(|option| long.contains(&option.split('=').next().unwrap_or_default()))
    }

    fn has_short(&self, letter: char) -> bool {
        self.letters.contains(&letter)
    }

    fn absolute(&self, paths: &[&str]) -> Option<Vec<String>> {
        // Words that begin with `:` mean more to git than a path.
        let path = |path: &&str| if path.starts_with(':') { None } else { joined(self.folder, path) };
        paths.iter().map(path).collect()
    }

    /// Reaches the paths that are given.
    fn paths(&self, paths: &[&str]) -> Option<Reach> {
        // The top of the working tree.
        let is_top = |path: &&str| matches!(*path, ":/" | ":/." | ":(top)" | ":(top).");
        if paths.iter().any(is_top) && paths.iter().all(|path| is_top(path) || !path.starts_with(':')) {
            return Some(Reach::Tree);
        }
        self.absolute(paths).filter(|paths| !paths.is_empty()).map(Reach::Paths)
    }

    /// Reaches the paths that are given, or the whole tree.
    fn paths_or_tree(&self, paths: &[&str]) -> Option<Reach> {
        if paths.is_empty() { Some(Reach::Tree) } else { self.paths(paths) }
    }

    fn all_paths(&self) -> Vec<&'a str> {
        self.words.iter().chain(self.paths.iter().flatten()).copied().collect()
    }
}

/// Returns what a verb takes from the whole tree that ends something which stopped for a person, and what shows that
/// this is under way; it goes back to where that began.
fn ends(verb: &str, of: &Arguments<'_>) -> Option<(&'static str, Tracked, &'static [&'static str])> {
    let has = |option| of.has(&[option]);
    match verb {
        "merge" if has("--abort") => Some(("merge --abort", Tracked::Staged, &["MERGE_HEAD"])),
        "rebase" if has("--abort") => Some(("rebase --abort", Tracked::Changed, &REBASES)),
        "rebase" if has("--skip") => Some(("rebase --skip", Tracked::Changed, &REBASES)),
        "cherry-pick" if has("--abort") => Some(("cherry-pick --abort", Tracked::Staged, &PICKS)),
        "cherry-pick" if has("--skip") => Some(("cherry-pick --skip", Tracked::Staged, &PICKS)),
        "revert" if has("--abort") => Some(("revert --abort", Tracked::Staged, &PICKS)),
        "revert" if has("--skip") => Some(("revert --skip", Tracked::Staged, &PICKS)),
        "am" if has("--abort") => Some(("am --abort", Tracked::Staged, &REBASES)),
        "am" if has("--skip") => Some(("am --skip", Tracked::Staged, &REBASES)),
        _ => None,
    }
}

/// What is in git's folder while commits are put on another one, and while some are picked or taken back.
const REBASES: [&str; 2] = ["rebase-merge", "rebase-apply"];
const PICKS: [&str; 3] = ["CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer"];

/// Returns what a verb reaches, if that is more than its own, and what it takes there; `None` for what loses nobody
/// anything.
fn reach_of(verb: &str, of: &Arguments<'_>) -> Option<(&'static str, Reach, Takes)> {
    let is_forced = of.has(&["--force"]) || of.has_short('f');
    let is_dry = of.has(&["--dry-run"]) || of.has_short('n');
    let changed = Takes::known(Tracked::Changed);
    let tree = |verb| Some((verb, Reach::Tree, changed));
    match verb {
        "checkout" => checkout(of).map(|(reach, tracked)| ("checkout", reach, Takes::known(tracked))),
        "switch" => tree("switch"),
        "reset" if of.has(&["--hard"]) => tree("reset"),
        // What is in the working tree only it keeps, or else does nothing.
        "reset" if of.has(&["--merge"]) => Some(("reset", Reach::Tree, Takes::known(Tracked::Staged))),
        "stash" => {
            let mut paths = of.all_paths();
            match of.words.first() {
                None => {}
                Some(&"push") => drop(paths.remove(0)),
                // What follows is a message.
                Some(&"save") => paths.clear(),
                Some(&"branch") => return tree("stash"),
                Some(_) => return None,
            }
            Some(("stash", of.paths_or_tree(&paths)?, stashes(of)))
        }
        "clean" if is_forced && !is_dry => {
            // Without paths it begins where it is.
            let paths = of.all_paths();
            let takes = Takes {
                tracked: Tracked::None,
                untracked: !of.has_short('X'),
                ignored: of.has_short('x') || of.has_short('X'),
                in_new_folders: of.has_short('d') || !paths.is_empty(),
            };
            Some(("clean", of.paths(if paths.is_empty() { &["."] } else { &paths })?, takes))
        }
        "restore" => {
            let is_index = of.has(&["--staged"]) || of.has_short('S');
            let is_tree = !is_index || of.has(&["--worktree"]) || of.has_short('W');
            let from_commit = is_index || of.has(&["--source"]) || of.has_short('s');
            let tracked = match from_commit {
                true if of.has(&["--overlay"]) => Tracked::InCommit,
                true => Tracked::Changed,
                false => Tracked::Unstaged,
            };
            is_tree.then_some(("restore", of.paths(&of.all_paths())?, Takes::known(tracked)))
        }
        "rebase" | "merge" => {
            let is_under_way =
                ["--continue", "--abort", "--quit", "--skip", "--edit-todo", "--show-current-patch"];
            let verb = if verb == "merge" { "merge" } else { "rebase" };
            if of.has(&is_under_way) { None } else { tree(verb) }
        }
        "commit" if is_dry_commit(of) => None,
        "commit" if of.has(&["--all"]) || of.has_short('a') => tree("commit -a"),
        "commit" if of.all_paths().contains(&".") => Some(("commit", of.paths(&of.all_paths())?, changed)),
        "add" => adds(of).and_then(|takes| Some(("add -A", of.paths_or_tree(&of.all_paths())?, takes))),
        // Without force git removes nothing that was edited.
        "rm" if is_forced && !is_dry && !of.has(&["--cached"]) => {
            Some(("rm -f", of.paths(&of.all_paths())?, changed))
        }
        "read-tree" if of.has(&["--reset"]) && of.has_short('u') => tree("read-tree"),
        "checkout-index" if is_forced => {
            let unstaged = Takes::known(Tracked::Unstaged);
            let is_all = of.has(&["--all"]) || of.has_short('a');
            let reach = if is_all { Some(Reach::Tree) } else { of.paths(&of.all_paths()) };
            Some(("checkout-index", reach?, unstaged))
        }
        "pull" if of.has(&["--autostash"]) => tree("pull --autostash"),
        "worktree" if of.words.first() == Some(&"remove") && is_forced => {
            Some(("worktree remove", Reach::Paths(of.absolute(of.words.get(1..)?)?), Takes::ALL))
        }
        _ => None,
    }
}

fn checkout(of: &Arguments<'_>) -> Option<(Reach, Tracked)> {
    let is_forced = of.has(&["--force"]) || of.has_short('f');
    let is_branch =
        of.has(&["--orphan", "--detach"]) || of.letters.iter().any(|letter| "bBd".contains(*letter));
    match (&of.paths, of.words.as_slice()) {
        // It names the files that were edited, and no more.
        (None, [] | ["HEAD" | "@"]) if !is_forced && !is_branch && !of.has_short('p') => None,
        (Some(paths), words) if !paths.is_empty() => {
            let tracked = match words {
                [] => Tracked::Unstaged,
                _ if of.has(&["--no-overlay"]) => Tracked::Changed,
                _ => Tracked::InCommit,
            };
            Some((of.paths(paths)?, tracked))
        }
        (_, words @ [_, ..]) if !is_branch => {
            Some((Reach::PathsOrTree(of.absolute(words)?), Tracked::Changed))
        }
        (_, _) => Some((Reach::Tree, Tracked::Changed)),
    }
}

fn stashes(of: &Arguments<'_>) -> Takes {
    let tracked = if of.has(&["--staged"]) || of.has_short('S') {
        Tracked::Staged
    } else if of.has(&["--keep-index"]) || of.has_short('k') {
        Tracked::Unstaged
    } else {
        Tracked::Changed
    };
    let ignored = of.has(&["--all"]) || of.has_short('a');
    let untracked = ignored || of.has(&["--include-untracked"]) || of.has_short('u');
    Takes { tracked, untracked, ignored, in_new_folders: true }
}

/// Returns which files `add` takes that nobody has named.
fn adds(of: &Arguments<'_>) -> Option<Takes> {
    let has = |long: &str, letter| of.has(&[long]) || of.has_short(letter);
    let is_other = of.has(&["--refresh", "--renormalize"])
        || [
            ("--dry-run", 'n'),
            ("--interactive", 'i'),
            ("--patch", 'p'),
            ("--edit", 'e'),
            ("--intent-to-add", 'N'),
        ]
        .iter()
        .any(|(long, letter)| has(long, *letter));
    let is_update = has("--update", 'u');
    let paths = of.all_paths();
    let is_whole = has("--all", 'A') || is_update || paths.iter().any(|path| matches!(*path, "." | ":/"));
    let takes = Takes {
        tracked: Tracked::Unstaged,
        untracked: !is_update,
        ignored: !is_update && has("--force", 'f'),
        in_new_folders: true,
    };
    (is_whole && !is_other).then_some(takes)
}

fn is_dry_commit(of: &Arguments<'_>) -> bool {
    of.has(&["--dry-run", "--short", "--porcelain", "--long"])
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
            let Takes { tracked, untracked, ignored, .. } = call.takes;
            let takes = match (tracked != Tracked::None, untracked, ignored) {
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
            "git checkout HEAD",
            "git checkout @",
            "git checkout -q HEAD",
            "git reset --keep HEAD~1",
            "git restore",
            "git commit -uall -m x",
            "git clean -fd -e $keep",
            "git restore --pathspec-from-file=x",
            "git rm a.rs",
            "git rm -f --cached a.rs",
            "git rm -nf a.rs",
            "git read-tree HEAD",
            "git pull",
            "git pull --rebase",
            "git status",
            "git diff",
            "git log",
            "git show stash",
            "git add a.rs",
            "git commit -m 'stash -a'",
            "git commit -ma",
            "git stash list",
            "git stash pop",
            "git stash show -p",
            "git reset",
            "git reset --soft HEAD~1",
            "git clean -nfd",
            "git clean -d",
            "git restore --staged .",
            "git rebase --continue",
            "git merge --quit",
            "git worktree add ../x",
            "git worktree remove ../x",
            "git branch -D x",
            "git checkout --help",
            "gits stash",
            "echo git stash",
            "git --git-dir=/x stash",
            "git --work-tree /x stash",
            "GIT_DIR=/x git stash",
            "git checkout $branch",
            "git restore ':(top)a'",
            "grep 'git stash' x",
        ] {
            check(line, "");
        }
    }
}
