//! Real git in real repositories: what is foreseen is what a merge then does.

#![expect(clippy::disallowed_methods, reason = "a test makes its repositories")]

mod hostile;
mod kinds;
mod random;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::memory::Memory;
use super::{Foreseer, MOST_TREES, merges};
use crate::core::model::{ConflictKind, ExpectedMerge, Forecast, Outcome};
use crate::source::database::sqlite::copies::Copies;
use crate::source::git::Asker;
use crate::source::os::fence::Fence;

/// A repository `shop` with a branch `main`, and two working trees beside it, `api` and `ui`.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    /// Returns `None` if git is not installed.
    fn new() -> Option<Self> {
        let stage = Self::bare()?;
        stage.write("shop/pay.rs", numbered(30));
        stage.write("shop/tax.rs", numbered(20));
        stage.commit("shop");
        stage.trees();
        Some(stage)
    }

    /// Makes the repository without a commit.
    fn bare() -> Option<Self> {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("skipped: git was not found");
            return None;
        }
        std::fs::create_dir_all(stage.at("home")).unwrap();
        std::fs::create_dir_all(stage.at("shop")).unwrap();
        stage.git("shop", &["init", "-q", "-b", "main"]);
        Some(stage)
    }

    fn trees(&self) {
        for name in ["api", "ui"] {
            self.git("shop", &["worktree", "add", "-q", "-b", name, &format!("../{name}")]);
        }
    }

    fn at(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let path = self.at(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Puts a text in the place of a line, counted from 1.
    fn edit(&self, file: &str, line: usize, text: &str) {
        let old = std::fs::read_to_string(self.at(file)).unwrap();
        let mut lines: Vec<&str> = old.split_inclusive('\n').collect();
        let text = format!("{text}\n");
        lines[line - 1] = &text;
        // As a whole, as agents do.
        self.write(&format!("{file}~"), lines.concat());
        std::fs::rename(self.at(&format!("{file}~")), self.at(file)).unwrap();
    }

    fn try_git(&self, folder: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.env("HOME", self.at("home")).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(self.at(folder));
        command.args([
            "-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "protocol.file.allow=always",
        ]);
        command.args(arguments).output().unwrap()
    }

    #[track_caller]
    fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let output = self.try_git(folder, arguments);
        assert!(output.status.success(), "{arguments:?} {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(&self, folder: &str) {
        self.git(folder, &["add", "-A", "--sparse"]);
        self.git(folder, &["commit", "-q", "--allow-empty", "-m", "work"]);
    }

    fn asker(&self) -> Asker {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Asker { programs: std::env::split_paths(&path).collect(), home: self.at("home") }
    }

    fn foresee(&self, trees: &[&str]) -> Vec<Forecast> {
        let trees: Vec<PathBuf> = trees.iter().map(|tree| self.at(tree)).collect();
        let copies = Copies::in_folder(&self.at("state/copies"));
        let (asker, fence) = (self.asker(), Fence::default());
        let found = Foreseer { asker: &asker, copies: &copies, fence: &fence }
            .foresee(&trees, &mut Memory::default())
            .forecasts;
        let left = std::fs::read_dir(self.at("state/copies")).unwrap().count();
        assert_eq!(left, 0, "nothing is left behind");
        found
    }

    /// Foresees the two trees, and nothing else.
    fn pair(&self) -> Forecast {
        let between = |forecast: &Forecast| forecast.is_between_trees();
        self.foresee(&["api", "ui"]).into_iter().find(between).unwrap()
    }

    /// Commits everything in both trees and merges one into the other; returns whether git could, and what it could not.
    fn really_merge(&self) -> (bool, Vec<String>) {
        self.commit("api");
        self.commit("ui");
        let merged = self.try_git("api", &["merge", "--no-edit", "ui"]);
        let unmerged = self.git("api", &["diff", "--name-only", "-z", "--diff-filter=U"]);
        // Git moves a file aside where the other side has a folder, says so, and counts that as merged.
        let is_aside = String::from_utf8_lossy(&merged.stdout).contains("CONFLICT");
        (
            merged.status.success() && !is_aside,
            unmerged.split('\0').filter(|name| !name.is_empty()).map(Into::into).collect(),
        )
    }

    /// Checks that a run has left everything as it was.
    #[track_caller]
    fn check_untouched(&self, before: &[String]) {
        let after = self.fingerprint();
        let differs = |(old, new): &(&String, &String)| old != new;
        let changed: Vec<_> = before.iter().zip(&after).filter(differs).take(3).collect();
        let names: Vec<_> = changed
            .iter()
            .map(|(old, new)| [old, new].map(|text| text.split(" [").take(2).collect::<Vec<_>>()))
            .collect();
        assert!(changed.is_empty() && before.len() == after.len(), "{names:?}");
    }

    /// Returns everything that a run must leave as it is: names, contents, modes and times.
    fn fingerprint(&self) -> Vec<String> {
        let mut all = Vec::new();
        for folder in ["shop", "api", "ui", "home"] {
            walk(&self.at(folder), &mut all);
        }
        all
    }
}

fn walk(path: &Path, all: &mut Vec<String>) {
    let meta = path.symlink_metadata().unwrap();
    let content = if meta.is_file() { std::fs::read(path).unwrap() } else { Vec::new() };
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    all.push(format!("{} {:o} {} {times:?} {content:?}", path.display(), meta.mode(), meta.ino()));
    if meta.is_dir() {
        let mut below: Vec<PathBuf> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        below.sort();
        below.iter().for_each(|path| walk(path, all));
    }
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|line| format!("line {line}\n")).collect()
}

fn kinds(forecast: &Forecast) -> Vec<(String, ConflictKind)> {
    forecast.conflicts.iter().map(|conflict| (conflict.path.raw().to_owned(), conflict.kind)).collect()
}

#[test]
fn what_is_committed_uncommitted_and_new_counts() {
    let Some(stage) = Stage::new() else { return };
    stage.edit("api/pay.rs", 12, "committed");
    stage.commit("api");
    stage.edit("ui/pay.rs", 12, "not committed");
    stage.write("ui/new.rs", "new\n");
    stage.write("api/new.rs", "another\n");
    let before = stage.fingerprint();
    let forecast = stage.pair();
    stage.check_untouched(&before);
    assert_eq!(forecast.outcome, Outcome::Conflicts, "{forecast:?}");
    let expected =
        [("new.rs".to_owned(), ConflictKind::SameNewPath), ("pay.rs".to_owned(), ConflictKind::Lines)];
    assert_eq!(kinds(&forecast), expected);
    let lines: Vec<_> =
        forecast.conflicts[1].lines.iter().map(|both| both.map(|lines| lines.to_text())).collect();
    assert_eq!(lines, [["12", "12"]]);
    let [api, ui] = &forecast.sides;
    assert_eq!([(api.commits, api.uncommitted), (ui.commits, ui.uncommitted)], [(1, 1), (0, 2)]);
    assert_eq!((forecast.first(), forecast.way_out().len()), (0, 3));
    let (is_merged, unmerged) = stage.really_merge();
    assert_eq!((is_merged, unmerged), (false, vec!["new.rs".to_owned(), "pay.rs".to_owned()]));
}

#[test]
fn edits_of_other_lines_merge_and_ignored_files_do_not_count() {
    let Some(stage) = Stage::new() else { return };
    stage.write("shop/.git/info/exclude", "*.log\n");
    stage.edit("api/pay.rs", 2, "api");
    stage.edit("ui/pay.rs", 25, "ui");
    stage.write("api/x.log", "a\n");
    stage.write("ui/x.log", "b\n");
    let forecast = stage.pair();
    assert_eq!((forecast.outcome, forecast.why), (Outcome::Clean, None));
    assert_eq!(forecast.sides[0].uncommitted, 1);
    assert!(stage.really_merge().0);
}

#[test]
fn each_tree_is_compared_with_the_branch_that_it_goes_to() {
    let Some(stage) = Stage::new() else { return };
    stage.edit("shop/pay.rs", 12, "main");
    stage.commit("shop");
    stage.edit("api/pay.rs", 12, "api");
    let forecasts = stage.foresee(&["api"]);
    let [forecast] = &forecasts[..] else { panic!("{forecasts:?}") };
    assert_eq!(forecast.outcome, Outcome::Conflicts);
    assert_eq!(forecast.sides[1].branch, Some("main".into()));
    assert!(forecast.way_out().last().unwrap().ends_with("api rebase main"), "{:?}", forecast.way_out());
}

#[test]
fn trees_beyond_the_most_are_not_compared_and_are_named() {
    let Some(stage) = Stage::new() else { return };
    let names: Vec<String> = (0..=MOST_TREES).map(|number| format!("tree-{number:02}")).collect();
    for name in &names {
        stage.git("shop", &["worktree", "add", "-q", "--detach", &format!("../{name}")]);
    }
    let trees: Vec<PathBuf> = names.iter().map(|name| stage.at(name)).collect();
    let copies = Copies::in_folder(&stage.at("state/copies"));
    let (asker, fence) = (stage.asker(), Fence::default());
    let foreseer = Foreseer { asker: &asker, copies: &copies, fence: &fence };
    assert_eq!(foreseer.foresee(&trees, &mut Memory::default()).left_out, [stage.at(names.last().unwrap())]);
    assert!(foreseer.foresee(&trees[1..], &mut Memory::default()).left_out.is_empty());
}

#[test]
fn only_pairs_of_which_a_side_has_changed_are_merged_again() {
    let Some(stage) = Stage::new() else { return };
    stage.git("shop", &["worktree", "add", "-q", "-b", "docs", "../docs"]);
    stage.edit("api/pay.rs", 5, "api");
    let trees: Vec<PathBuf> = ["api", "docs", "ui"].iter().map(|tree| stage.at(tree)).collect();
    let copies = Copies::in_folder(&stage.at("state/copies"));
    let (asker, fence) = (stage.asker(), Fence::default());
    let foreseer = Foreseer { asker: &asker, copies: &copies, fence: &fence };
    let mut memory = Memory::default();
    let mut check = |merged: u64| {
        let found = foreseer.foresee(&trees, &mut memory).forecasts;
        assert_eq!(memory.take_counts().pairs(), merged);
        found.iter().filter(|one| one.outcome == Outcome::Conflicts).count()
    };
    // Each with each, and each with main.
    assert_eq!(check(6), 0);
    assert_eq!(check(0), 0, "nothing has changed");
    stage.edit("ui/pay.rs", 5, "ui");
    assert_eq!(check(3), 1, "those of one tree");
    stage.commit("ui");
    assert_eq!(check(3), 1);
    stage.write("shop/.git/info/attributes", "*.rs -text\n");
    stage.git("shop", &["config", "core.autocrlf", "false"]);
    assert_eq!(check(6), 1, "settings decide as well");
}

#[test]
fn commits_beside_it_are_never_disturbed() {
    let Some(stage) = Stage::new() else { return };
    let is_over = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for name in ["api", "ui"] {
            let (stage, is_over) = (&stage, &is_over);
            scope.spawn(move || {
                for round in 0..15 {
                    stage.edit(&format!("{name}/pay.rs"), 5, &format!("{name} {round}"));
                    stage.git(name, &["add", "-A"]);
                    stage.git(name, &["commit", "-q", "-m", "work"]);
                    stage.git(name, &["status", "--short"]);
                }
                is_over.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            });
        }
        while is_over.load(std::sync::atomic::Ordering::Relaxed) < 2 {
            let forecast = stage.pair();
            // What changes at this moment is unknown, and not clean.
            let is_clean = forecast.outcome == Outcome::Clean;
            assert!(!is_clean || forecast.sides.iter().any(|side| side.commits == 0), "{forecast:?}");
        }
    });
    assert_eq!(stage.pair().outcome, Outcome::Conflicts);
    stage.git("shop", &["fsck", "--strict"]);
}

/// Returns how an expected merge has ended, as if it had been foreseen before everything.
fn ended(forecast: &Forecast) -> Option<Outcome> {
    let Forecast { repository, sides, outcome, .. } = forecast.clone();
    merges::merge_outcome(&ExpectedMerge { repository, sides, outcome, at: jiff::Timestamp::UNIX_EPOCH })
}

#[test]
fn how_a_merge_has_ended_is_read_in_the_logs_of_git() {
    for (line, expected) in [(20, Outcome::Clean), (5, Outcome::Conflicts)] {
        for by_rebase in [false, true] {
            let Some(stage) = Stage::new() else { return };
            stage.edit("api/pay.rs", 5, "api");
            stage.edit("ui/pay.rs", line, "ui");
            stage.commit("api");
            stage.commit("ui");
            let forecast = stage.pair();
            assert_eq!((forecast.outcome, ended(&forecast)), (expected, None));
            let how = if by_rebase { "rebase" } else { "merge" };
            if !stage.try_git("ui", &[how, "api"]).status.success() {
                stage.git("ui", &["checkout", "-q", "--theirs", "pay.rs"]);
                stage.git("ui", &["add", "pay.rs"]);
                let goes_on: &[&str] = if by_rebase {
                    &["-c", "core.editor=true", "rebase", "--continue"]
                } else {
                    &["commit", "-q", "--no-edit"]
                };
                stage.git("ui", goes_on);
            }
            assert_eq!(ended(&forecast), Some(expected), "{how} {line}");
        }
    }
}
