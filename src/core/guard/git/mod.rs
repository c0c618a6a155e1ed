//! Calls of git that reach into the uncommitted work of others.

mod aliases;
mod arguments;
mod invocation;
pub(crate) mod reach;
pub(crate) mod stash;
mod submodules;
pub(crate) mod trees;
mod verbs;

use crate::core::guard::call::{DecidingSetting, InnerTrees, TreeCall};
use crate::core::guard::git::arguments::Arguments;
use crate::core::guard::git::invocation::{VerbCall, verb_of};
use crate::core::guard::git::reach::{Reach, Takes, TrackedFiles};
use crate::core::guard::git::verbs::{begins_branch, deciding_setting, ends, is_dry_commit, onto, reach_of};
use crate::core::guard::shell::token::{ANY, MANY};
use crate::core::guard::shell::{Command, ShellContext, commands};

/// Returns the calls of git in a shell line, run in some place, that reach into the uncommitted work of others.
pub(crate) fn git_calls(line: &str, place: &ShellContext<'_>) -> Vec<TreeCall> {
    git_calls_with(line, place, &|_| None)
}

/// Returns the same, with the meaning of the person's own verbs (git-config(1), `alias.*`).
pub(crate) fn git_calls_with(
    line: &str,
    place: &ShellContext<'_>,
    alias: &dyn Fn(&str) -> Option<String>,
) -> Vec<TreeCall> {
    // Most lines have nothing to do with git.
    if !line.contains("git") {
        return Vec::new();
    }
    let commands = commands(line, place);
    let commands = commands.iter().flat_map(|command| aliases::resolved(command, place, alias));
    let mut calls: Vec<TreeCall> = commands.flat_map(|command| calls_of(&command, place.top_of)).collect();
    calls.dedup();
    calls
}

/// Returns the call that git's own arguments make, run in some folder, if it reaches into the uncommitted work of others.
pub(crate) fn git_call(words: Vec<String>, folder: &str) -> Option<TreeCall> {
    let calls = calls_of(&Command { words, folder: Some(folder.into()) }, &|_| None);
    calls.into_iter().find(|call| call.by_setting != Some(DecidingSetting::CommitHook))
}

/// Returns what a command of git takes: one call, and one more for the hook of a commit.
fn calls_of(command: &Command, top_of: &dyn Fn(&str) -> Option<String>) -> Vec<TreeCall> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let Some(of) = verb_of(&words, command.folder.as_deref().unwrap_or_default()) else { return Vec::new() };
    if of.rest.iter().any(|word| matches!(*word, "-h" | "--help")) {
        return Vec::new();
    }
    let hook = hook_of_commit(&of);
    if let Some(call) = submodules::call(&of) {
        return vec![call];
    }
    call(of, top_of).into_iter().chain(hook).collect()
}

/// Returns what the hook of a commit takes if it stashes what is not staged.
fn hook_of_commit(of: &VerbCall<'_>) -> Option<TreeCall> {
    if of.verb != "commit" {
        return None;
    }
    let arguments = Arguments::parse(of.verb, of.rest, &of.folder, None);
    let is_skipped = arguments.has(&["--no-verify"]) || arguments.has_short('n') || is_dry_commit(&arguments);
    let by_setting = Some(DecidingSetting::CommitHook);
    let takes = Takes::known(TrackedFiles::Unstaged);
    let settings = of.settings.clone();
    let call =
        TreeCall { by_setting, takes, settings, ..TreeCall::of_git("commit", &of.folder, Reach::Tree) };
    (!is_skipped).then_some(call)
}

fn call(of: VerbCall<'_>, top_of: &dyn Fn(&str) -> Option<String>) -> Option<TreeCall> {
    let VerbCall { folder, verb, rest, settings } = of;
    // The one is another name of the other.
    let verb = if verb == "stage" { "add" } else { verb };
    // Unknown words are not judged, except the values of options, such as a message.
    let top = rest.iter().any(|word| word.starts_with(':')).then(|| top_of(&folder)).flatten();
    let arguments = Arguments::parse(verb, rest, &folder, top.as_deref());
    let is_elsewhere = arguments.options.iter().any(|option| option.starts_with("--pathspec"));
    if !arguments.is_known(verb) || is_elsewhere {
        return None;
    }
    let ends = ends(verb, &arguments);
    let during = ends.map_or(&[][..], |(_, _, during)| during);
    let by_setting = if ends.is_none() { deciding_setting(verb, &arguments) } else { None };
    let (verb, reach, takes) = match ends {
        Some((verb, tracked, _)) => (verb, Reach::Tree, Takes::known(tracked)),
        None => reach_of(verb, &arguments)?,
    };
    let left_out = arguments.left_out()?;
    let is_forced = arguments.has(&["--force", "--discard-changes", "--merge"])
        || matches!(verb, "checkout" | "switch") && "fm".contains(|letter| arguments.has_short(letter));
    let inner = match verb {
        "clean" if arguments.is_forced_twice() && takes.in_new_folders => InnerTrees::Worktrees,
        _ if arguments.has(&["--recurse-submodules"]) => InnerTrees::Submodules,
        "rm -f" => InnerTrees::Everything,
        _ => InnerTrees::Nothing,
    };
    let begins_branch = begins_branch(verb, &arguments);
    let onto = onto(verb, &arguments).filter(|_| !is_forced).map(str::to_owned);
    // The shell inserts the names of files if any match; a pattern that it leaves is for git to match.
    let plain = |pattern: &&str| pattern.replace(MANY, "*").replace(ANY, "?");
    let spares = arguments.excluded.iter().map(plain).collect();
    let below_only = verb == "add" || verb == "commit" && matches!(reach, Reach::Paths(_));
    let (folder, reach) = match (verb, reach) {
        // Another working tree is removed.
        ("worktree remove", Reach::Paths(paths)) => (paths.into_iter().next()?, Reach::Tree),
        (_, reach) => (folder.clone(), reach),
    };
    let call = TreeCall::of_git(verb, &folder, reach);
    Some(TreeCall {
        takes,
        spares,
        left_out,
        onto,
        inner,
        below_only,
        by_setting,
        settings,
        is_forced,
        during,
        begins_branch,
        ..call
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let label = |call: &TreeCall| {
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
        let place = ShellContext { folder: "/w", home: Some("/home/me"), top_of: &|_| None };
        let calls = git_calls(line, &place);
        let calls = calls.iter().filter(|call| call.by_setting != Some(DecidingSetting::CommitHook));
        let found: Vec<String> = calls.map(label).collect();
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
    fn what_settings_files_or_the_index_decide_is_asked_of_them() {
        check("git commit -uall -m x", "commit in /w: all");
        check("git commit -m 'stash -a'", "commit in /w: all");
        check("git commit -ma", "commit in /w: all");
        check("git commit -m x src", "commit in /w: /w/src");
        check("git add src a.rs", "add in /w: /w/src /w/a.rs with new files");
        check("git pull", "pull in /w: all");
        let place = ShellContext { folder: "/w", home: None, top_of: &|_| Some("/top".to_owned()) };
        let call = |line: &str| git_calls(line, &place).pop().unwrap();
        assert_eq!(call("git commit -m x").by_setting, Some(DecidingSetting::CommitHook));
        assert_eq!(git_calls("git commit -nm x", &place).len(), 1);
        let pull = call("git -c Rebase.AutoStash pull --rebase");
        assert_eq!(pull.by_setting, Some(DecidingSetting::Pull { by_rebase: Some(true) }));
        assert_eq!(pull.settings, [("rebase.autostash".to_owned(), "true".to_owned())]);
        assert_eq!(
            call("git restore :/a ':(top)b'").reach,
            Reach::Paths(vec!["/top/a".into(), "/top/b".into()])
        );
    }

    #[test]
    fn an_alias_is_what_it_stands_for() {
        let place = ShellContext { folder: "/w/src", home: None, top_of: &|_| Some("/w".to_owned()) };
        let alias = |verb: &str| match verb {
            "sv" => Some("stash".to_owned()),
            "nuke" => Some("!git reset --hard && git clean -fd".to_owned()),
            "st" | "status" => Some("status -s".to_owned()),
            _ => None,
        };
        let found = |line: &str| -> Vec<String> {
            let calls = git_calls_with(line, &place, &alias);
            calls.iter().map(|call| format!("{} in {}", call.verb, call.folder)).collect()
        };
        assert_eq!(found("git sv -u"), ["stash in /w/src"]);
        assert_eq!(found("git nuke"), ["reset in /w", "clean in /w"]);
        assert_eq!(found("git st; git status"), [""; 0]);
        assert_eq!(found("git unknown"), [""; 0]);
        assert_eq!(found("git ls-files -m | xargs -0 git checkout --"), ["checkout in /w/src"]);
        assert_eq!(found("find . | xargs git add"), [""; 0]);
    }

    #[test]
    fn a_branch_that_begins_where_the_tree_is_takes_nothing() {
        let place = ShellContext { folder: "/w", home: None, top_of: &|_| None };
        for (line, expected) in [
            ("git checkout -b new", true),
            ("git checkout -qb new HEAD", true),
            ("git switch -c new", true),
            ("git switch --force-create=new @", true),
            ("git checkout -B main origin/main", false),
            ("git checkout -f -b new", false),
            ("git switch new", false),
            ("git switch --orphan new", false),
        ] {
            let found: Vec<bool> = git_calls(line, &place).iter().map(|call| call.begins_branch).collect();
            assert_eq!(found, [expected], "{line}");
        }
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
            "git clean -fd -e $keep",
            "git restore --pathspec-from-file=x",
            "git rm a.rs",
            "git rm -f --cached a.rs",
            "git rm -nf a.rs",
            "git read-tree HEAD",
            "git pull --rebase --no-autostash",
            "git status",
            "git diff",
            "git log",
            "git show stash",
            "git add -n a.rs",
            "git commit -m x --dry-run",
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
            "git restore ':(top,icase)a'",
            "grep 'git stash' x",
        ] {
            check(line, "");
        }
    }
}
