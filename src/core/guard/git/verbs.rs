//! What each git verb takes from the uncommitted work of others.

use crate::core::guard::call::DecidingSetting;
use crate::core::guard::folder::joined;
use crate::core::guard::git::arguments::{Arguments, is_folder, is_top, left_out};
use crate::core::guard::git::reach::{Reach, Takes, TrackedFiles};
use crate::core::guard::shell::token::MANY;

/// Returns what a verb takes from the whole tree that ends an operation waiting for a person, and the files that show
/// this to be under way; it returns to where that began.
pub(super) fn ends(
    verb: &str,
    of: &Arguments<'_>,
) -> Option<(&'static str, TrackedFiles, &'static [&'static str])> {
    let has = |option| of.has(&[option]);
    match verb {
        "merge" if has("--abort") => Some(("merge --abort", TrackedFiles::Staged, &["MERGE_HEAD"])),
        "rebase" if has("--abort") => Some(("rebase --abort", TrackedFiles::Changed, &REBASES)),
        "rebase" if has("--skip") => Some(("rebase --skip", TrackedFiles::Changed, &REBASES)),
        "cherry-pick" if has("--abort") => Some(("cherry-pick --abort", TrackedFiles::Staged, &PICKS)),
        "cherry-pick" if has("--skip") => Some(("cherry-pick --skip", TrackedFiles::Staged, &PICKS)),
        "revert" if has("--abort") => Some(("revert --abort", TrackedFiles::Staged, &PICKS)),
        "revert" if has("--skip") => Some(("revert --skip", TrackedFiles::Staged, &PICKS)),
        "am" if has("--abort") => Some(("am --abort", TrackedFiles::Staged, &REBASES)),
        "am" if has("--skip") => Some(("am --skip", TrackedFiles::Staged, &REBASES)),
        _ => None,
    }
}

/// The files in git's folder during a rebase or `am`, and during a cherry-pick or revert.
const REBASES: [&str; 2] = ["rebase-merge", "rebase-apply"];
const PICKS: [&str; 3] = ["CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer"];

/// Returns what a verb reaches, if that is more than its own files, and what it takes there; `None` if it loses no
/// work.
pub(super) fn reach_of(verb: &str, of: &Arguments<'_>) -> Option<(&'static str, Reach, Takes)> {
    let is_forced = of.is_forced();
    let is_dry = of.has(&["--dry-run"]) || of.has_short('n');
    let changed = Takes::known(TrackedFiles::Changed);
    let tree = |verb| Some((verb, Reach::Tree, changed));
    match verb {
        "checkout" => checkout(of).map(|(reach, takes)| ("checkout", reach, takes)),
        "switch" => tree("switch"),
        "reset" if of.has(&["--hard"]) => tree("reset"),
        // It keeps what only the working tree has, or else does nothing.
        "reset" if of.has(&["--merge"]) => Some(("reset", Reach::Tree, Takes::known(TrackedFiles::Staged))),
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
            // Without paths it begins in its own folder.
            let paths = of.all_paths();
            let takes = Takes {
                tracked: TrackedFiles::None,
                untracked: !of.has_short('X'),
                ignored: of.has_short('x') || of.has_short('X'),
                in_new_folders: of.has_short('d') || !paths.is_empty(),
                named: false,
            };
            Some(("clean", of.paths(if paths.is_empty() { &["."] } else { &paths })?, takes))
        }
        "restore" => {
            let is_index = of.has(&["--staged"]) || of.has_short('S');
            let is_tree = !is_index || of.has(&["--worktree"]) || of.has_short('W');
            let from_commit = is_index || of.has(&["--source"]) || of.has_short('s');
            let takes = match from_commit {
                true if of.has(&["--overlay"]) => Takes::out_of_commit(TrackedFiles::InCommit),
                true => Takes::out_of_commit(TrackedFiles::Changed),
                false => Takes::known(TrackedFiles::Unstaged),
            };
            is_tree.then_some(("restore", of.paths(&of.all_paths())?, takes))
        }
        "rebase" | "merge" => {
            let is_under_way =
                ["--continue", "--abort", "--quit", "--skip", "--edit-todo", "--show-current-patch"];
            let verb = if verb == "merge" { "merge" } else { "rebase" };
            if of.has(&is_under_way) { None } else { tree(verb) }
        }
        "commit" if is_dry_commit(of) => None,
        "commit" if of.has(&["--all"]) || of.has_short('a') => tree("commit -a"),
        "commit" if of.all_paths().is_empty() => {
            Some(("commit", Reach::Tree, Takes::known(TrackedFiles::Staged)))
        }
        "commit" => Some(("commit", of.paths(&of.all_paths())?, changed)),
        "add" => adds(of),
        // Without force git removes no edited file.
        "rm" if is_forced && !is_dry && !of.has(&["--cached"]) => {
            Some(("rm -f", of.paths(&of.all_paths())?, changed))
        }
        "mv" if is_forced && !is_dry => {
            Some(("mv -f", Reach::Files(moved_onto(of)?), Takes { named: false, ..Takes::ALL }))
        }
        "read-tree" if of.has(&["--reset"]) && of.has_short('u') => tree("read-tree"),
        "checkout-index" if is_forced && !of.has(&["--prefix"]) => {
            let unstaged = Takes::known(TrackedFiles::Unstaged);
            let is_all = of.has(&["--all"]) || of.has_short('a');
            let reach = if is_all { Some(Reach::Tree) } else { of.paths(&of.all_paths()) };
            Some(("checkout-index", reach?, unstaged))
        }
        "pull" if of.has(&["--autostash"]) => tree("pull --autostash"),
        "pull" if !of.has(&["--no-autostash"]) => tree("pull"),
        "worktree" if of.words.first() == Some(&"remove") && is_forced => {
            Some(("worktree remove", Reach::Paths(of.absolute(of.words.get(1..)?)?), Takes::ALL))
        }
        _ => None,
    }
}

fn checkout(of: &Arguments<'_>) -> Option<(Reach, Takes)> {
    let changed = Takes::known(TrackedFiles::Changed);
    let is_forced = of.is_forced();
    let is_branch =
        of.has(&["--orphan", "--detach"]) || of.letters.iter().any(|letter| "bBd".contains(*letter));
    match (&of.paths, of.words.as_slice()) {
        // It names the files that were edited, and no more.
        (paths, [] | ["HEAD" | "@"])
            if paths.as_ref().is_none_or(Vec::is_empty) && !is_forced && !is_branch && !of.has_short('p') =>
        {
            None
        }
        (Some(paths), words) if !paths.is_empty() => {
            let takes = match words {
                [] => Takes::known(TrackedFiles::Unstaged),
                _ if of.has(&["--no-overlay"]) => Takes::out_of_commit(TrackedFiles::Changed),
                _ => Takes::out_of_commit(TrackedFiles::InCommit),
            };
            Some((of.paths(paths)?, takes))
        }
        // Only a path begins so; the word before it may be a commit.
        (_, [first, ..]) if first.starts_with(':') => {
            Some((of.paths(&of.words)?, Takes::known(TrackedFiles::Unstaged)))
        }
        (_, [first, rest @ ..]) if !is_branch && rest.iter().any(is_top) => {
            let unstaged = Takes::known(TrackedFiles::Unstaged);
            let takes =
                if is_folder(first) { unstaged } else { Takes::out_of_commit(TrackedFiles::InCommit) };
            Some((of.paths(rest)?, takes))
        }
        (_, words @ [_, ..]) if !is_branch => {
            let meant: Vec<&str> = words.iter().copied().filter(|word| left_out(word).is_none()).collect();
            Some((Reach::PathsOrTree(of.absolute(&meant)?), changed))
        }
        (_, _) => Some((Reach::Tree, changed)),
    }
}

/// Returns the commit that a call goes to, or takes in, if it does nothing else.
pub(super) fn onto<'a>(verb: &str, of: &Arguments<'a>) -> Option<&'a str> {
    const PLAIN: [&str; 10] = [
        "--quiet", "--progress", "--no-progress", "--ff-only", "--ff", "--no-edit", "--guess", "--no-guess",
        "--recurse-submodules", "--no-recurse-submodules",
    ];
    let is_plain = of.letters.iter().all(|letter| *letter == 'q')
        && of.options.iter().all(|option| PLAIN.contains(option))
        && of.paths.as_ref().is_none_or(Vec::is_empty);
    match of.words.as_slice() {
        [name] if is_plain && matches!(verb, "checkout" | "switch" | "merge") => Some(name),
        _ => None,
    }
}

/// Returns whether a call begins a branch where the tree is, and does no more.
pub(super) fn begins_branch(verb: &str, of: &Arguments<'_>) -> bool {
    let letters = match verb {
        "checkout" => ['b', 'B'],
        "switch" => ['c', 'C'],
        _ => return false,
    };
    let creates =
        letters.iter().any(|letter| of.has_short(*letter)) || of.has(&["--create", "--force-create"]);
    let is_forced = of.is_forced() || of.has(&["--discard-changes", "--merge", "--orphan", "--detach"]);
    let stays = of.all_paths().iter().all(|word| matches!(*word, "HEAD" | "@"));
    creates && stays && !is_forced
}

/// Returns where files may be moved: onto the last path, or below it if that is a folder.
fn moved_onto(of: &Arguments<'_>) -> Option<Vec<String>> {
    let mut paths = of.absolute(&of.all_paths())?;
    let to = paths.pop()?;
    let below = |path: &String| joined(&to, path.rsplit('/').next()?);
    Some(std::iter::once(to.clone()).chain(paths.iter().filter_map(below)).collect())
}

fn stashes(of: &Arguments<'_>) -> Takes {
    let tracked = if of.has(&["--staged"]) || of.has_short('S') {
        TrackedFiles::Staged
    } else if of.has(&["--keep-index"]) || of.has_short('k') {
        TrackedFiles::Unstaged
    } else {
        TrackedFiles::Changed
    };
    let ignored = of.has(&["--all"]) || of.has_short('a');
    let untracked = ignored || of.has(&["--include-untracked"]) || of.has_short('u');
    Takes { tracked, untracked, ignored, in_new_folders: true, named: false }
}

/// Returns which of git's settings decides what a call does.
pub(super) fn deciding_setting(verb: &str, of: &Arguments<'_>) -> Option<DecidingSetting> {
    if of.has(&["--no-autostash"]) {
        return None;
    }
    match verb {
        "rebase" => Some(DecidingSetting::Rebase),
        "merge" => Some(DecidingSetting::Merge),
        "pull" if !of.has(&["--autostash"]) => {
            let by_rebase = of.has_short('r') || of.has(&["--rebase"]);
            let by_merge = of.has(&["--no-rebase"]) || of.options.contains(&"--rebase=false");
            Some(DecidingSetting::Pull { by_rebase: (by_rebase || by_merge).then_some(!by_merge) })
        }
        _ => None,
    }
}

/// Returns where `add` reaches, and which files it takes there that the call does not name.
fn adds(of: &Arguments<'_>) -> Option<(&'static str, Reach, Takes)> {
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
    let is_whole = has("--all", 'A')
        || is_update
        || paths.iter().any(|path| is_folder(path) || is_top(path) || is_all(path));
    let takes = Takes {
        tracked: TrackedFiles::Unstaged,
        untracked: !is_update,
        ignored: !is_update && has("--force", 'f'),
        in_new_folders: true,
        named: false,
    };
    match (is_other, is_whole) {
        (true, _) => None,
        (false, true) => Some(("add -A", of.paths_or_tree(&paths)?, takes)),
        (false, false) if paths.is_empty() => None,
        (false, false) => Some(("add", of.paths(&paths)?, takes)),
    }
}

/// Returns whether a path stands for everything in the call's folder, except hidden files if the shell expands it.
fn is_all(path: &str) -> bool {
    path == "*" || path.chars().eq([MANY])
}

pub(super) fn is_dry_commit(of: &Arguments<'_>) -> bool {
    of.has(&["--dry-run", "--short", "--porcelain", "--long"])
}
