//! Calls of git that reach into the uncommitted work of others.

mod arguments;
pub(crate) mod reach;
pub(crate) mod stash;
pub(crate) mod trees;
mod verbs;

use crate::core::guard::folder::joined;
use crate::core::guard::git::arguments::Arguments;
use crate::core::guard::git::reach::{Reach, Takes, TrackedFiles, is_pattern};
use crate::core::guard::git::verbs::{ends, onto, reach_of};
use crate::core::guard::shell::token::{ANY, MANY, is_known};
use crate::core::guard::shell::{Command, Place, commands, name_of};
use crate::core::model::snapshot::ledger::Harm;

/// One such call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitCall {
    /// The folder that it works in, absolute.
    pub(crate) folder: String,
    /// Its verb, such as `stash`.
    pub(crate) verb: &'static str,
    /// Where it reaches.
    pub(crate) reach: Reach,
    /// Which files it takes there.
    pub(crate) takes: Takes,
    /// Patterns of files that it leaves all the same, in the syntax of ignore files.
    pub(crate) spares: Vec<String>,
    /// Paths, absolute, that it leaves out.
    pub(crate) left_out: Vec<String>,
    /// The name of the commit that it goes to, or takes in, if it does nothing when the tree is there already.
    pub(crate) onto: Option<String>,
    /// Whether it takes whole working trees that lie in its reach.
    pub(crate) takes_trees: bool,
    /// Whether it is to overwrite files that git would carry over, or refuse to touch.
    is_forced: bool,
    /// The files in git's folder of which one must exist for it to end anything; empty if it does not end anything.
    pub(crate) during: &'static [&'static str],
}

impl GitCall {
    /// Returns the fate of the files that it takes.
    pub(crate) fn harm(&self) -> Harm {
        match self.verb {
            "add -A" | "commit" | "commit -a" | "merge" | "rebase" => Harm::Kept,
            "checkout" | "switch" if !self.is_forced && self.reach == Reach::Tree => Harm::Kept,
            "stash" | "pull --autostash" => Harm::Stashed,
            _ => Harm::Lost,
        }
    }

    /// Returns the fate of a whole working tree that it takes.
    pub(crate) fn of_tree(&self, folder: String) -> Self {
        let (reach, takes) = (Reach::Tree, Takes::ALL);
        Self { folder, reach, takes, spares: Vec::new(), left_out: Vec::new(), ..self.clone() }
    }

    /// Settles its reach by the files that are there, or known to git.
    pub(crate) fn resolve(self, is_there: impl Fn(&str) -> bool) -> Self {
        let Reach::PathsOrTree(mut paths) = self.reach else { return self };
        // A commit's name has none of these characters.
        let is_path = |path: &String| is_there(path) || is_pattern(path);
        let (reach, takes) = match paths.len() {
            _ if paths.iter().all(is_path) => (Reach::Paths(paths), Takes::known(TrackedFiles::Unstaged)),
            0 | 1 => (Reach::Tree, self.takes),
            _ => (Reach::Paths(paths.split_off(1)), Takes::out_of_commit(TrackedFiles::InCommit)),
        };
        Self { reach, takes, ..self }
    }
}

/// Returns the calls of git in a shell line, run in some place, that reach into the uncommitted work of others.
pub(crate) fn git_calls(line: &str, place: &Place<'_>) -> Vec<GitCall> {
    // Most lines have nothing to do with git.
    if !line.contains("git") {
        return Vec::new();
    }
    let mut calls: Vec<GitCall> = commands(line, place).iter().filter_map(call).collect();
    calls.dedup();
    calls
}

/// Returns the call that git's own arguments make, run in some folder, if it reaches into the uncommitted work of others.
pub(crate) fn git_call(words: Vec<String>, folder: &str) -> Option<GitCall> {
    call(&Command { words, folder: Some(folder.into()) })
}

/// Options of git's own that do not change what a verb takes; those about paths only if the paths are plain.
const WITHOUT_EFFECT: [&str; 11] = [
    "-p", "-P", "--paginate", "--no-pager", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs",
    "--icase-pathspecs", "--no-advice", "--no-replace-objects", "--no-lazy-fetch",
];

/// Returns the folder that a call of git works in, absolute, its verb, and the words after that; `None` if they are not
/// known, or it is no call of git.
fn verb_of<'a>(words: &'a [&'a str], folder: &str) -> Option<(String, &'a str, &'a [&'a str])> {
    let (program, mut rest) = words.split_first()?;
    if name_of(program) != "git" {
        return None;
    }
    let mut folder = folder.to_owned();
    loop {
        let (first, after) = rest.split_first()?;
        rest = match *first {
            "-C" => {
                let (to, after) = after.split_first().filter(|(to, _)| is_known(to))?;
                folder = joined(&folder, to)?;
                after
            }
            "-c" => after.get(1..)?,
            option if WITHOUT_EFFECT.contains(&option) => after,
            option if option.starts_with('-') || !is_known(option) => return None,
            verb => return Some((folder, verb, after)).filter(|(folder, ..)| !folder.is_empty()),
        };
    }
}

fn call(command: &Command) -> Option<GitCall> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let (folder, verb, rest) = verb_of(&words, command.folder.as_deref().unwrap_or_default())?;
    // The one is another name of the other.
    let verb = if verb == "stage" { "add" } else { verb };
    if rest.iter().any(|word| matches!(*word, "-h" | "--help")) {
        return None;
    }
    // Unknown words are not judged, except the values of options, such as a message.
    let arguments = Arguments::parse(verb, rest, &folder);
    let is_elsewhere = arguments.options.iter().any(|option| option.starts_with("--pathspec"));
    if !arguments.is_known(verb) || is_elsewhere {
        return None;
    }
    let ends = ends(verb, &arguments);
    let during = ends.map_or(&[][..], |(_, _, during)| during);
    let (verb, reach, takes) = match ends {
        Some((verb, tracked, _)) => (verb, Reach::Tree, Takes::known(tracked)),
        None => reach_of(verb, &arguments)?,
    };
    let left_out = arguments.left_out()?;
    let is_forced = arguments.has(&["--force", "--discard-changes", "--merge"])
        || matches!(verb, "checkout" | "switch") && "fm".contains(|letter| arguments.has_short(letter));
    let takes_trees = verb == "clean" && arguments.is_forced_twice() && takes.in_new_folders;
    let onto = onto(verb, &arguments).filter(|_| !is_forced).map(str::to_owned);
    // The shell inserts the names of files if any match; a pattern that it leaves is for git to match.
    let plain = |pattern: &&str| pattern.replace(MANY, "*").replace(ANY, "?");
    let spares = arguments.excluded.iter().map(plain).collect();
    Some(match (verb, &reach) {
        // Another working tree is removed.
        ("worktree remove", Reach::Paths(paths)) => {
            let folder = paths.first()?.clone();
            GitCall {
                folder,
                verb,
                reach: Reach::Tree,
                takes: Takes::ALL,
                spares,
                left_out,
                onto,
                takes_trees,
                is_forced,
                during,
            }
        }
        _ => GitCall { folder, verb, reach, takes, spares, left_out, onto, takes_trees, is_forced, during },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let told = |call: &GitCall| {
            let reach = match &call.reach {
                Reach::Tree => "all".to_owned(),
                Reach::Paths(paths) | Reach::Files(paths) => paths.join(" "),
                Reach::PathsOrTree(paths) => format!("{} or all", paths.join(" ")),
            };
            let Takes { tracked, untracked, ignored, .. } = call.takes;
            let takes = match (tracked != TrackedFiles::None, untracked, ignored) {
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
        let place = Place { folder: "/w", home: Some("/home/me"), top_of: &|_| None };
        let found: Vec<String> = git_calls(line, &place).iter().map(told).collect();
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
        check("git reset --hard \"origin/$BRANCH\"", "reset in /w: all");
        check("git reset --hard $ref", "reset in /w: all");
        check("git checkout $ref -- a.rs", "checkout in /w: /w/a.rs");
        check("git checkout -f \"$ref\"", "checkout in /w: /w/\0 or all");
        check("git stash save \"wip $x\"", "stash in /w: all");
        check("git add '*'", "add -A in /w: /w/* with new files");
        check("git stash -a", "stash in /w: all with new and ignored files");
        check("git stash --incl", "stash in /w: all with new files");
        check("git reset --har", "reset in /w: all");
        check("git commit --mess x -a", "commit -a in /w: all");
        check("git merge --edit x", "merge in /w: all");
        check("git add -Af", "add -A in /w: all with new and ignored files");
        check("git restore .", "restore in /w: /w");
        check("git rebase main && git merge x", "rebase in /w: all; merge in /w: all");
        check("git commit -am 'x y'", "commit -a in /w: all");
        check("git commit --all -m x", "commit -a in /w: all");
        check("git commit -am \"$(cat <<'EOF'\nx\nEOF\n)\"", "commit -a in /w: all");
        check("git add -A", "add -A in /w: all with new files");
        check("git stage -A", "add -A in /w: all with new files");
        check("git add ./", "add -A in /w: /w with new files");
        check("git add .", "add -A in /w: /w with new files");
        check("git read-tree -u --reset HEAD", "read-tree in /w: all");
        check("git pull --rebase --autostash", "pull --autostash in /w: all");
        check("git checkout -f HEAD", "checkout in /w: /w/HEAD or all");
        check("git worktree remove --force ../x", "worktree remove in /x: all with new and ignored files");
        check("/usr/bin/git stash", "stash in /w: all");
    }

    #[test]
    fn what_takes_paths_takes_only_these() {
        check("git checkout -- . ':!a.rs'", "checkout in /w: /w");
        check("git checkout HEAD :/", "checkout in /w: all");
        check("git mv -f a.rs b.rs", "mv -f in /w: /w/b.rs /w/b.rs/a.rs with new and ignored files");
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
            "git rebase --cont",
            "git clean -fd --dry",
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
            "git checkout-index -fa --prefix=/x/",
            "git -C $OTHER stash",
            "git clean -fd$x",
            "git reset --$how",
            "git restore ':(top)a'",
            "grep 'git stash' x",
        ] {
            check(line, "");
        }
    }
}
