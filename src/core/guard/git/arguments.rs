//! The arguments of a git verb: options, words and paths.

use crate::core::guard::folder::joined;
use crate::core::guard::git::reach::Reach;
use crate::core::guard::shell::token::{UNKNOWN, is_known};

/// The arguments of a verb.
pub(super) struct Arguments<'a> {
    folder: &'a str,
    /// The top of the working tree, if it is known.
    top: Option<&'a str>,
    /// The long options, without values that are words of their own.
    pub(super) options: Vec<&'a str>,
    /// The letters of the short ones.
    pub(super) letters: Vec<char>,
    /// The other words before `--`.
    pub(super) words: Vec<&'a str>,
    /// Those after it, if it is there.
    pub(super) paths: Option<Vec<&'a str>>,
    /// The patterns of files that `clean` leaves.
    pub(super) excluded: Vec<&'a str>,
}

/// The options of a verb that have a value: letters with the value in the rest of the word or the next one, letters
/// with it only in the rest of the word, and words with it in the next.
struct ValueOptions(&'static str, &'static str, &'static [&'static str]);

fn valued(verb: &str) -> ValueOptions {
    match verb {
        "commit" => ValueOptions(
            "mFcCt",
            "uS",
            &[
                "--message", "--file", "--author", "--date", "--template", "--fixup", "--squash",
                "--cleanup", "--reuse-message", "--reedit-message", "--trailer",
            ],
        ),
        "stash" => ValueOptions("m", "", &["--message"]),
        "checkout" => ValueOptions("bB", "t", &["--orphan", "--conflict"]),
        "switch" => ValueOptions("cC", "t", &["--create", "--force-create", "--orphan", "--conflict"]),
        "restore" => ValueOptions("s", "", &["--source", "--conflict"]),
        "clean" => ValueOptions("e", "", &["--exclude"]),
        "rebase" => ValueOptions(
            "xsX",
            "CS",
            &["--exec", "--strategy", "--strategy-option", "--onto", "--whitespace"],
        ),
        "merge" => ValueOptions(
            "mFsX",
            "S",
            &["--message", "--file", "--strategy", "--strategy-option", "--into-name", "--cleanup"],
        ),
        _ => ValueOptions("", "", &[]),
    }
}

/// Returns whether a path is the top of the working tree (gitglossary(7), pathspec).
pub(super) fn is_top(path: &&str) -> bool {
    matches!(*path, ":/" | ":/." | ":(top)" | ":(top).")
}

/// Returns the path of a pathspec that counts from the top of the working tree.
fn from_top(path: &str) -> Option<&str> {
    let inside = [":(top)", ":/"].iter().find_map(|sign| path.strip_prefix(sign))?;
    Some(inside).filter(|inside| !inside.is_empty() && !inside.starts_with([':', '!', '^', '(']))
}

/// Returns the path that a pathspec excludes, if it does.
pub(super) fn left_out(path: &str) -> Option<&str> {
    [":!", ":^", ":(exclude)"].iter().find_map(|sign| path.strip_prefix(sign))
}

/// Returns whether a path is the folder of a call, or one above it, whatever lies there.
pub(super) fn is_folder(path: &str) -> bool {
    path.split('/').all(|part| matches!(part, "" | "." | "..")) && path.starts_with('.')
}

/// Returns whether a word is a long option, or an abbreviation of it that git accepts because it fits only one option
/// (gitcli(7)); otherwise git does nothing.
fn is_option(word: &str, long: &str) -> bool {
    word == long || word.len() > 3 && long.starts_with(word) && !WHOLE.contains(&word)
}

/// Options that begin another one, and have a meaning of their own.
const WHOLE: [&str; 1] = ["--edit"];

impl<'a> Arguments<'a> {
    pub(super) fn parse(verb: &str, rest: &[&'a str], folder: &'a str, top: Option<&'a str>) -> Self {
        let ValueOptions(with_value, with_rest, long) = valued(verb);
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
                if is_option(word, "--exclude") {
                    excluded.extend(rest.next());
                } else if long.iter().any(|long| is_option(word, long)) {
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
        Self { folder, top, options, letters, words, paths, excluded }
    }

    /// Returns whether everything is known except values of options, and the name of a commit if a verb takes the
    /// whole tree anyway: a word with a known beginning is not an option.
    pub(super) fn is_known(&self, verb: &str) -> bool {
        let takes_tree = matches!(verb, "reset" | "switch" | "rebase" | "merge") && self.paths.is_none();
        // Forced, or beside paths, it can only be a commit's name; the words of `save` name the entry.
        let is_name = match verb {
            "checkout" => self.is_forced() || self.paths.is_some(),
            "reset" => self.has(&["--hard"]),
            "stash" => self.words.first() == Some(&"save"),
            _ => false,
        };
        let name = |option: &&str| option.split('=').next().is_some_and(is_known);
        let is_commit = |word: &str| is_name || takes_tree && !word.starts_with(UNKNOWN);
        // The shell finds these where the call runs, whatever a verb does with them.
        let are_files = |word: &str| !takes_tree && !word.contains(UNKNOWN);
        let mut words = self.words.iter().copied();
        let mut paths = self.paths.iter().flatten().chain(&self.excluded).copied();
        words.all(|word| is_known(word) || is_commit(word) || are_files(word))
            && paths.all(|path| !path.contains(UNKNOWN))
            && self.options.iter().all(name)
            && !self.letters.contains(&UNKNOWN)
    }

    pub(super) fn has(&self, long: &[&str]) -> bool {
        let is_that = |option: &&str| {
            let name = option.split('=').next().unwrap_or_default();
            long.iter().any(|long| is_option(name, long))
        };
        self.options.iter().any(is_that)
    }

    pub(super) fn is_forced(&self) -> bool {
        self.has(&["--force"]) || self.has_short('f')
    }

    /// Returns whether the option is given twice: then `clean` removes other repositories as well (git-clean(1)).
    pub(super) fn is_forced_twice(&self) -> bool {
        let short = self.letters.iter().filter(|letter| **letter == 'f').count();
        short + self.options.iter().filter(|option| is_option(option, "--force")).count() > 1
    }

    pub(super) fn has_short(&self, letter: char) -> bool {
        self.letters.contains(&letter)
    }

    pub(super) fn absolute(&self, paths: &[&str]) -> Option<Vec<String>> {
        // Words that begin with `:` mean more to git than a path; from the top of the tree on it is one.
        let path = |path: &&str| match from_top(path) {
            Some(inside) => joined(self.top?, inside),
            None if path.starts_with(':') => None,
            None => joined(self.folder, path),
        };
        paths.iter().map(path).collect()
    }

    /// Reaches the given paths; everything if some are only left out.
    pub(super) fn paths(&self, paths: &[&str]) -> Option<Reach> {
        let (left_out, meant): (Vec<&str>, Vec<&str>) =
            paths.iter().partition(|path| left_out(path).is_some());
        let is_whole = |path: &&str| !path.starts_with(':') || is_top(path);
        let has_top = meant.iter().any(is_top) && meant.iter().all(is_whole);
        if has_top || meant.is_empty() && !left_out.is_empty() {
            return Some(Reach::Tree);
        }
        self.absolute(&meant).filter(|paths| !paths.is_empty()).map(Reach::Paths)
    }

    /// Returns the paths that are left out, absolute; `None` if one is not known.
    pub(super) fn left_out(&self) -> Option<Vec<String>> {
        let paths = self.all_paths();
        self.absolute(&paths.into_iter().filter_map(left_out).collect::<Vec<_>>())
    }

    /// Reaches the given paths, or the whole tree.
    pub(super) fn paths_or_tree(&self, paths: &[&str]) -> Option<Reach> {
        if paths.is_empty() { Some(Reach::Tree) } else { self.paths(paths) }
    }

    pub(super) fn all_paths(&self) -> Vec<&'a str> {
        self.words.iter().chain(self.paths.iter().flatten()).copied().collect()
    }
}
