//! Which files git ignores, by its own files of patterns (gitignore(5)).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gix_ignore::Search;
use gix_ignore::glob::pattern::Case;
use gix_ignore::glob::wildmatch;
use gix_ignore::glob::wildmatch::Mode;
use gix_ignore::search::Ignore;

use crate::core::guard::git::reach::{is_pattern, shells_pattern};
use crate::source::os::open::plain::small;

/// The largest file of patterns that is read, in bytes.
const MOST_PATTERNS: usize = 256 << 10;

/// The patterns of one working tree, each folder's read once.
pub(crate) struct IgnoreRules {
    top: PathBuf,
    /// The patterns that hold in a folder: its own, and those of all above it.
    folders: HashMap<PathBuf, Search>,
}

impl IgnoreRules {
    /// Prepares for a working tree; reads the patterns that apply to all of it: the person's own at their usual place,
    /// and the repository's private ones.
    pub(crate) fn new(top: &Path, common_dir: &Path, home: &Path) -> Self {
        let mut search = Search::default();
        add(&mut search, &home.join(".config/git/ignore"), None);
        add(&mut search, &common_dir.join("info/exclude"), None);
        add(&mut search, &top.join(".gitignore"), Some(top));
        Self { top: top.to_path_buf(), folders: HashMap::from([(PathBuf::new(), search)]) }
    }

    /// Returns whether patterns exclude a file of the working tree; git follows none for a file that it knows.
    pub(crate) fn has(&mut self, path: &Path) -> bool {
        let Ok(inside) = path.strip_prefix(&self.top).map(Path::to_path_buf) else { return false };
        let mut parts: Vec<&Path> = inside.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
        parts.reverse();
        // A file in an excluded folder is excluded, whatever patterns say of it.
        parts.iter().any(|part| self.is_excluded(part, *part != inside))
    }

    fn is_excluded(&mut self, inside: &Path, is_folder: bool) -> bool {
        inside.parent().is_some_and(|folder| excludes(self.patterns_in(folder), inside, is_folder))
    }

    fn patterns_in(&mut self, folder: &Path) -> &Search {
        if !self.folders.contains_key(folder) {
            let mut search = folder.parent().map(|above| self.patterns_in(above).clone()).unwrap_or_default();
            add(&mut search, &self.top.join(folder).join(".gitignore"), Some(&self.top));
            self.folders.insert(folder.to_path_buf(), search);
        }
        self.folders.entry(folder.to_path_buf()).or_default()
    }
}

/// Adds the patterns of a file, if it can be read.
fn add(search: &mut Search, file: &Path, top: Option<&Path>) {
    if let Ok(bytes) = small(file, MOST_PATTERNS) {
        // A name that git could not have holds nothing.
        let _ = search.add_patterns_buffer(&bytes, file, top, Ignore::default());
    }
}

/// Prepares to determine which files of a working tree these patterns exclude.
pub(crate) fn excluded_by(patterns: &[String], top: &Path) -> impl Fn(&str) -> bool {
    let mut search = Search::default();
    // A name that git could not have holds nothing.
    let _ = search.add_patterns_buffer(patterns.join("\n").as_bytes(), "", None, Ignore::default());
    move |path| {
        let Ok(inside) = Path::new(path).strip_prefix(top) else { return false };
        inside.ancestors().any(|part| excludes(&search, part, part != inside))
    }
}

fn excludes(search: &Search, inside: &Path, is_folder: bool) -> bool {
    let Some(text) = inside.to_str().filter(|text| !text.is_empty()) else { return false };
    let found = search.pattern_matching_relative_path(text.into(), Some(is_folder), Case::Sensitive);
    found.is_some_and(|found| !found.pattern.is_negative())
}

/// Returns whether a git pattern names a path (gitglossary(7), "pathspec").
pub(crate) fn is_matched(pattern: &str, path: &str) -> bool {
    if let Some(pattern) = shells_pattern(pattern) {
        return Path::new(path)
            .ancestors()
            .any(|part| part.to_str().is_some_and(|part| is_found(&pattern, part)));
    }
    is_pattern(pattern) && wildmatch(pattern.into(), path.into(), Mode::empty())
}

/// Returns whether a shell expands a pattern to a path (glob(7)): not to a hidden one, unless the pattern says so.
fn is_found(pattern: &str, path: &str) -> bool {
    let is_hidden = |(pattern, name): (&str, &str)| name.starts_with('.') && !pattern.starts_with('.');
    wildmatch(pattern.into(), path.into(), Mode::NO_MATCH_SLASH_LITERAL)
        && !pattern.split('/').zip(path.split('/')).any(is_hidden)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test runs git and writes its files")]
mod tests {
    use super::*;

    /// Checks each of these with git itself.
    #[test]
    fn it_is_what_git_says() {
        let world = tempfile::tempdir().unwrap();
        let top = world.path().join("w");
        let git = |arguments: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.env("HOME", world.path()).env_remove("XDG_CONFIG_HOME").arg("-C").arg(&top);
            command.args(arguments).output().unwrap().status.success()
        };
        std::fs::create_dir_all(top.join("src/gen/deep")).unwrap();
        std::fs::create_dir_all(world.path().join(".config/git")).unwrap();
        assert!(git(&["init", "-q"]));
        for (file, patterns) in [
            (".config/git/ignore", "*.swp\n"),
            ("w/.git/info/exclude", "/private\n"),
            ("w/.gitignore", "*.log\n!keep.log\n/out/\nbuild\n**/gen/*.rs\n.env\n"),
            ("w/src/.gitignore", "*.tmp\n!build\n"),
            ("w/src/gen/.gitignore", "!own.rs\n"),
        ] {
            std::fs::write(world.path().join(file), patterns).unwrap();
        }
        let mut ignored = IgnoreRules::new(&top, &top.join(".git"), world.path());
        let mut told = [0, 0];
        for file in [
            "a.log", "keep.log", "src/keep.log", "out/x", "src/out/x", "build", "src/build", "build/a/b",
            "src/a.tmp", "a.tmp", "src/gen/x.rs", "src/gen/own.rs", "src/gen/deep/x.rs", "private",
            "src/private", ".env", ".envrc", "src/a.swp", "src/main.rs",
        ] {
            let expected = git(&["check-ignore", "-q", file]);
            assert_eq!(ignored.has(&top.join(file)), expected, "{file}");
            told[usize::from(expected)] += 1;
        }
        assert!(told.iter().all(|count| *count > 5), "{told:?}");
        assert!(!ignored.has(Path::new("/elsewhere/a.log")));
    }
}
