//! What windows do in a working tree: edits by their tools, formatters and git by their shells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::repository::Repository;
use super::truth::{Truth, words_of};
use super::watch::{Counts, TrueEdit, TrueEdits, TrueTree, Watcher, Watchers};
use super::{Dice, Pace};
use crate::source::work::committed::{EditFacts, name_held};

/// The files of a repository at its begin, and those that are made later.
const FIRST: [&str; 7] =
    ["README.md", "src/cart.rs", "src/lib.rs", "src/pay.rs", "src/tax.rs", "src/x/deep.rs", "src/x/wide.rs"];
const LATER: [&str; 4] = ["docs/a.md", "src/new.rs", "src/x/more.rs", "tests/pay.rs"];
const MOVED: [&str; 2] = ["src/moved.rs", "src/x/renamed.rs"];
const COMMON: [&str; 12] =
    ["let", "fn", "pub", "self", "return", "if", "else", "for", "total", "cart", "match", "use"];

struct Window {
    session: usize,
    tree: usize,
}

pub(super) struct World {
    dice: Dice,
    pace: Pace,
    repository: Repository,
    truth: Truth,
    watchers: Watchers,
    trees: Vec<TrueTree>,
    windows: Vec<Window>,
    sessions: usize,
    edits: TrueEdits,
    words: u32,
    edited: usize,
    branches: usize,
    /// The working tree that each stash entry was made in.
    stashed: BTreeMap<String, usize>,
}

impl World {
    pub(super) fn new(seed: u64, pace: Pace) -> Self {
        let mut repository = Repository::new();
        let mut dice = Dice(seed);
        let top = repository.root.join("shop");
        let paths: Vec<&'static str> = FIRST.iter().chain(&LATER).chain(&MOVED).copied().collect();
        repository.git(&top, &["init", "--quiet", "--initial-branch=main", "--template="]);
        let truth = Truth::new(&repository, &top, paths);
        let mut trees = vec![TrueTree { top: top.clone(), id: String::new() }];
        let mut words = 0;
        for file in FIRST {
            let lines: Vec<String> = (0..12).map(|_| line(&mut dice, &mut words)).collect();
            repository.write(&top.join(file), &(lines.join("\n") + "\n"));
        }
        repository.git(&top, &["add", "--all"]);
        repository.git(&top, &["commit", "--quiet", "--message=begin"]);
        if seed % 3 == 2 {
            repository.pass(5_000);
            repository.git(&top, &["worktree", "add", "--quiet", "-b", "second", "../shop-2"]);
            trees.push(TrueTree { top: repository.root.join("shop-2"), id: "shop-2".to_owned() });
        }
        repository.pass(60_000);
        let mut windows = Vec::new();
        for session in 0..2 + dice.below(3) {
            let tree = if dice.per_cent(70) { 0 } else { dice.below(trees.len()) };
            windows.push(Window { session, tree });
        }
        let sessions = windows.len();
        let (watchers, edits) = (Watchers::new(seed), BTreeMap::new());
        Self {
            dice,
            pace,
            repository,
            truth,
            watchers,
            trees,
            windows,
            sessions,
            edits,
            words,
            edited: 0,
            branches: 0,
            stashed: BTreeMap::new(),
        }
    }

    pub(super) fn hours(&self) -> u64 {
        self.repository.since_begin().as_hours().unsigned_abs()
    }

    pub(super) fn end(self) -> Counts {
        self.watchers.counts
    }

    /// Lets the time pass that lies between two steps.
    fn pass_some(&mut self) {
        let ms = match self.dice.below(100) {
            0..=9 if self.pace == Pace::Agent => 30 + self.dice.below(900),
            0..=64 => 2_100 + self.dice.below(40_000),
            65..=94 => 60_000 + self.dice.below(200_000),
            _ => 660_000 + self.dice.below(2_000_000),
        };
        self.repository.pass(ms);
    }

    /// Lets the time pass that lies between two commands of one line.
    fn pass_moment(&mut self) {
        let ms = match self.pace {
            Pace::Agent => 4 + self.dice.below(120),
            Pace::Person => 1_100 + self.dice.below(9_000),
        };
        self.repository.pass(ms);
    }

    pub(super) fn step(&mut self) {
        self.pass_some();
        // A screen looks all the time.
        self.look_by(&[Watcher::Steady]);
        let window = self.dice.below(self.windows.len());
        let tree = self.windows[window].tree;
        if self.conflict(tree).is_some() && self.dice.per_cent(80) {
            self.resolve(tree);
        } else {
            self.act(window, tree);
        }
        self.look();
    }

    fn act(&mut self, window: usize, tree: usize) {
        match self.dice.below(100) {
            0..=44 => self.edit(window, tree),
            45..=50 => self.format(tree),
            51..=53 => self.rename_word(tree),
            54..=68 => self.commit(tree),
            69..=72 => self.amend(tree),
            73..=79 => self.stash(tree),
            80..=86 => self.branch(tree),
            87 => self.git(tree, &["reset", "--quiet", "--soft", "HEAD~1"]),
            88 => self.git(tree, &["reset", "--quiet", "HEAD~1"]),
            89 => self.lose(tree),
            90..=91 => self.pick(tree),
            92..=93 => self.move_file(tree),
            94 => self.git(tree, &["gc", "--quiet"]),
            95..=96 => self.squash(tree),
            _ => self.clear(window),
        }
    }

    fn git(&mut self, tree: usize, arguments: &[&str]) {
        self.succeeds(tree, arguments);
    }

    fn succeeds(&mut self, tree: usize, arguments: &[&str]) -> bool {
        let top = self.trees[tree].top.clone();
        let came = self.repository.git(&top, arguments);
        self.look_often();
        came
    }

    /// Runs one line of several commands, until one fails.
    fn line(&mut self, tree: usize, commands: &[&[&str]]) {
        for (number, command) in commands.iter().enumerate() {
            if number > 0 {
                self.pass_moment();
            }
            if !self.succeeds(tree, command) {
                return;
            }
        }
    }

    /// Looks in the midst of a line, as far as a screen would.
    fn look_often(&mut self) {
        if self.pace == Pace::Person || self.dice.per_cent(20) {
            self.look_by(&[Watcher::Steady]);
        }
    }

    fn look(&mut self) {
        self.repository.pass(5 + self.dice.below(60));
        let mut watchers = vec![Watcher::Steady];
        let others =
            [(Watcher::Seldom, 15), (Watcher::Fresh, 20), (Watcher::Guard, 20), (Watcher::Bytes, 20)];
        for (watcher, chance) in others {
            if self.dice.per_cent(chance) {
                watchers.push(watcher);
            }
        }
        self.look_by(&watchers);
    }

    fn look_by(&mut self, watchers: &[Watcher]) {
        let bytes = (&self.repository, &mut self.truth);
        self.watchers.look(watchers, (&self.edits, &self.trees), bytes);
    }

    /// Returns the files of a working tree, below its top.
    fn files(&self, tree: usize) -> Vec<&'static str> {
        let all = FIRST.iter().chain(&LATER).chain(&MOVED).copied();
        all.filter(|file| self.trees[tree].top.join(file).exists()).collect()
    }

    fn pick_file(&mut self, tree: usize) -> Option<(&'static str, PathBuf, String)> {
        let files = self.files(tree);
        let file = *files.get(self.dice.below(files.len()))?;
        let path = self.trees[tree].top.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        Some((file, path, text))
    }

    /// Has a window's tool edit a file: some lines in it, or all of it.
    fn edit(&mut self, window: usize, tree: usize) {
        let common = self.trees[0].top.join(".git");
        let new = *self.dice.of(&LATER);
        let picked = if self.dice.per_cent(8) { None } else { self.pick_file(tree) };
        let (file, path, before) =
            picked.unwrap_or_else(|| (new, self.trees[tree].top.join(new), String::new()));
        let first = self.words;
        let mut lines: Vec<String> = before.lines().map(str::to_owned).collect();
        let added: Vec<String> =
            (0..1 + self.dice.below(4)).map(|_| line(&mut self.dice, &mut self.words)).collect();
        match self.dice.below(20) {
            _ if lines.is_empty() => lines = added,
            0..=11 => {
                let at = self.dice.below(lines.len() + 1);
                lines.splice(at..at, added);
            }
            12..=17 => {
                let at = self.dice.below(lines.len());
                let end = (at + 1 + self.dice.below(4)).min(lines.len());
                lines.splice(at..end, added);
            }
            _ => {
                let some = self.dice.below(lines.len());
                lines.truncate(some);
                lines.extend(added);
            }
        }
        let left = lines.join("\n") + "\n";
        let upon = Watchers::upon(&self.trees[tree], &common, self.repository.now);
        self.repository.pass(self.dice.below(8));
        self.repository.write(&path, &left);
        self.repository.pass(1 + self.dice.below(120));
        self.edited += 1;
        let session = self.windows[window].session;
        self.repository.note(&format!(
            "edit {} of s{session} in {}: {file}",
            self.edited,
            self.tree_name(tree)
        ));
        let own = words_of(&left).into_iter().filter(|word| *word >= first).collect();
        let known = EditFacts { upon, held: name_held(&path), open_at: None };
        let at = self.repository.now;
        self.edits.insert((session, path), TrueEdit { number: self.edited, at, own, left, known });
        self.watchers.count_edit();
    }

    fn tree_name(&self, tree: usize) -> String {
        self.trees[tree].top.file_name().unwrap().to_string_lossy().into_owned()
    }

    fn write_by_shell(&mut self, (file, path): (&str, &Path), text: &str, what: &str) {
        self.repository.write(path, text);
        self.repository.note(&format!("{what} {file}"));
    }

    fn format(&mut self, tree: usize) {
        let Some((file, path, text)) = self.pick_file(tree) else { return };
        let width = self.dice.below(8);
        let lines = text.lines().map(|line| format!("{}{}", " ".repeat(width), line.trim()));
        let mut lines: Vec<String> = lines.collect();
        if self.dice.per_cent(40) && lines.len() > 3 {
            let at = self.dice.below(lines.len() - 1);
            let next = lines.remove(at + 1);
            lines[at] = format!("{} {}", lines[at], next.trim());
        }
        self.write_by_shell((file, &path), &(lines.join("\n") + "\n"), "format");
    }

    fn rename_word(&mut self, tree: usize) {
        let Some((file, path, text)) = self.pick_file(tree) else { return };
        let words: Vec<u32> = words_of(&text).into_iter().collect();
        if words.is_empty() {
            return;
        }
        let word = *self.dice.of(&words);
        let text = text.replace(&format!("w{word}("), "renamed(").replace(&format!("w{word};"), "renamed;");
        self.write_by_shell((file, &path), &text, "rename a word in");
    }

    fn commit(&mut self, tree: usize) {
        let file = self.pick_file(tree).map_or("README.md", |(file, ..)| file);
        let (add, commit) = (["add", "--all"], ["commit", "--quiet", "--message=x"]);
        match self.dice.below(10) {
            0..=2 => self.git(tree, &["commit", "--quiet", "--all", "--message=x"]),
            3..=5 => self.line(tree, &[&add, &commit]),
            6..=7 => self.line(tree, &[&["add", file], &["commit", "--quiet", "--message=x", "--", file]]),
            8 => self.git(tree, &add),
            _ => self.line(tree, &[&add, &commit, &["commit", "--quiet", "--amend", "--message=y"]]),
        }
    }

    fn amend(&mut self, tree: usize) {
        let amend = ["commit", "--quiet", "--amend", "--no-edit"];
        match self.dice.below(3) {
            0 => self.git(tree, &["commit", "--quiet", "--amend", "--message=z"]),
            1 => self.line(tree, &[&["add", "--all"], &amend]),
            _ => self.git(tree, &["commit", "--quiet", "--amend", "--all", "--no-edit"]),
        }
    }

    fn stash(&mut self, tree: usize) {
        let file = self.pick_file(tree).map_or("README.md", |(file, ..)| file);
        // What another working tree has stashed is not taken: that two of them share the stack is the guard's affair.
        let top = self.truth.newest_stash().and_then(|name| self.stashed.get(&name).copied());
        if top == Some(tree) && self.dice.per_cent(70) {
            match self.dice.below(12) {
                0..=8 => self.git(tree, &["stash", "pop", "--quiet"]),
                9 => self.git(tree, &["stash", "pop", "--quiet", "--index"]),
                10 => self.git(tree, &["stash", "apply", "--quiet"]),
                _ => self.git(tree, &["stash", "drop", "--quiet"]),
            }
            return;
        }
        let push = ["stash", "push", "--quiet"];
        match self.dice.below(10) {
            0..=3 => self.git(tree, &push),
            4..=5 => self.git(tree, &["stash", "push", "--quiet", "--include-untracked"]),
            6 => self.git(tree, &["stash", "push", "--quiet", "--", file]),
            7 => self.git(tree, &["stash", "push", "--quiet", "--keep-index"]),
            8 => self.line(tree, &[&push, &["stash", "pop", "--quiet"]]),
            _ => self.line(
                tree,
                &[
                    &push,
                    &["commit", "--quiet", "--allow-empty", "--message=w"],
                    &["stash", "pop", "--quiet"],
                ],
            ),
        }
        if let Some(made) = self.truth.newest_stash() {
            self.stashed.entry(made).or_insert(tree);
        }
    }

    fn branch(&mut self, tree: usize) {
        let base = if tree == 0 { "main" } else { "second" };
        let current = self.current(tree);
        if current == base {
            self.branches += 1;
            let name = format!("topic-{}", self.branches);
            match self.dice.below(6) {
                0..=3 => self.git(tree, &["switch", "--quiet", "-c", &name]),
                4 if tree == 0 && self.trees.len() > 1 => {
                    self.git(tree, &["merge", "--quiet", "--no-edit", "second"])
                }
                _ if tree == 1 => self.git(tree, &["merge", "--quiet", "--no-edit", "main"]),
                _ if self.branches > 1 => {
                    let other = format!("topic-{}", 1 + self.dice.below(self.branches - 1));
                    self.git(tree, &["switch", "--quiet", &other]);
                }
                _ => {}
            }
            return;
        }
        let switch = ["switch", "--quiet", base];
        match self.dice.below(9) {
            0..=1 => self.git(tree, &switch),
            2..=3 => self.line(tree, &[&switch, &["merge", "--quiet", "--no-edit", &current]]),
            4 => self.line(tree, &[&switch, &["merge", "--quiet", "--no-ff", "--no-edit", &current]]),
            5 => self.line(
                tree,
                &[
                    &switch,
                    &["merge", "--quiet", "--squash", &current],
                    &["commit", "--quiet", "--message=squashed"],
                ],
            ),
            6 => self.git(tree, &["rebase", "--quiet", base]),
            7 => self.git(tree, &["rebase", "--quiet", "--autostash", base]),
            _ => self.line(
                tree,
                &[
                    &["stash", "push", "--quiet"],
                    &switch,
                    &["merge", "--quiet", "--no-edit", &current],
                    &["stash", "pop", "--quiet"],
                ],
            ),
        }
    }

    fn current(&self, tree: usize) -> String {
        let own = self.trees[tree].own_dir(&self.trees[0].top.join(".git"));
        let head = std::fs::read_to_string(own.join("HEAD")).unwrap();
        head.trim().rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// Throws something away.
    fn lose(&mut self, tree: usize) {
        let file = self.pick_file(tree).map_or("README.md", |(file, ..)| file);
        match self.dice.below(6) {
            0..=2 => self.git(tree, &["checkout", "--quiet", "--", file]),
            3 => self.git(tree, &["restore", "--source=HEAD", "--staged", "--worktree", "--", file]),
            4 => self.git(tree, &["reset", "--quiet", "--hard"]),
            _ => self.git(tree, &["reset", "--quiet", "--hard", "HEAD~1"]),
        }
    }

    fn pick(&mut self, tree: usize) {
        match self.dice.below(3) {
            0 => self.git(tree, &["revert", "--no-edit", "HEAD"]),
            1 if self.branches > 0 => {
                let other = format!("topic-{}", 1 + self.dice.below(self.branches));
                self.git(tree, &["cherry-pick", &other]);
            }
            _ => self.git(tree, &["checkout", "--quiet", "HEAD~1", "--", "src"]),
        }
    }

    fn move_file(&mut self, tree: usize) {
        let Some((file, path, text)) = self.pick_file(tree) else { return };
        let to = *self.dice.of(&MOVED);
        let target = self.trees[tree].top.join(to);
        match self.dice.below(4) {
            0 if !target.exists() => self.git(tree, &["mv", file, to]),
            1 if !target.exists() => {
                self.repository.rename(&path, &target);
                self.repository.note(&format!("mv {file} {to}"));
            }
            2 if text.len() < 200 => self.git(tree, &["rm", "--quiet", "--force", file]),
            _ => {}
        }
    }

    fn squash(&mut self, tree: usize) {
        let fixup = ["commit", "--quiet", "--all", "--fixup=HEAD"];
        let rebase = ["rebase", "--quiet", "--interactive", "--autosquash", "HEAD~2"];
        match self.dice.below(3) {
            0 => self.line(tree, &[&fixup, &rebase]),
            1 => self.line(
                tree,
                &[&["reset", "--quiet", "--soft", "HEAD~2"], &["commit", "--quiet", "--message=two"]],
            ),
            _ => self.git(tree, &["rebase", "--quiet", "--force-rebase", "HEAD~2"]),
        }
    }

    /// Begins another session in a window.
    fn clear(&mut self, window: usize) {
        self.windows[window].session = self.sessions;
        self.repository.note(&format!("s{} begins", self.sessions));
        self.sessions += 1;
        let oldest = self.sessions.saturating_sub(7);
        self.edits.retain(|(session, _), _| *session >= oldest);
    }

    /// Returns the verb whose conflicts are not resolved.
    fn conflict(&self, tree: usize) -> Option<&'static str> {
        let own = self.trees[tree].own_dir(&self.trees[0].top.join(".git"));
        let marks = [
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("MERGE_HEAD", "merge"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
        ];
        let verb = marks.iter().find(|(mark, _)| own.join(mark).exists()).map(|(_, verb)| *verb);
        verb.or_else(|| (!self.conflicts(tree).is_empty()).then_some("stash"))
    }

    /// Returns the files that have marks of a conflict.
    fn conflicts(&self, tree: usize) -> Vec<PathBuf> {
        let paths = self.files(tree).into_iter().map(|file| self.trees[tree].top.join(file));
        paths
            .filter(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("<<<<<<< ")))
            .collect()
    }

    fn resolve(&mut self, tree: usize) {
        let Some(verb) = self.conflict(tree) else { return };
        if verb != "stash" && self.dice.per_cent(30) {
            self.git(tree, &[verb, "--abort"]);
            return;
        }
        for path in self.conflicts(tree) {
            let text = std::fs::read_to_string(&path).unwrap();
            let side = self.dice.below(5);
            self.repository.write(&path, &resolved(&text, side));
            self.repository.note(&format!("resolve {}", path.display()));
        }
        self.pass_moment();
        self.git(tree, &["add", "--all"]);
        self.pass_moment();
        match verb {
            "merge" => self.git(tree, &["commit", "--quiet", "--no-edit"]),
            "stash" => {
                self.git(tree, &["reset", "--quiet"]);
                if self.dice.per_cent(50) {
                    self.pass_moment();
                    self.git(tree, &["stash", "drop", "--quiet"]);
                }
            }
            verb => {
                if !self.succeeds(tree, &[verb, "--continue"]) && self.conflicts(tree).is_empty() {
                    self.pass_moment();
                    self.git(tree, &[verb, "--skip"]);
                }
            }
        }
    }
}

/// Removes the marks of conflicts: both sides are kept, or one.
fn resolved(text: &str, side: usize) -> String {
    let mut now = 0;
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.get(..7) {
            Some("<<<<<<<") => now = 1,
            Some("=======") if now == 1 => now = 2,
            Some(">>>>>>>") => now = 0,
            _ if now == 1 && side == 4 || now == 2 && side == 3 => {}
            _ => lines.push(line),
        }
    }
    lines.join("\n") + "\n"
}

/// Makes a line with words that no other line has.
fn line(dice: &mut Dice, words: &mut u32) -> String {
    let mut text = " ".repeat(4 * dice.below(3));
    for _ in 0..1 + dice.below(3) {
        *words += 1;
        text += &format!("{} {} w{}(", dice.of(&COMMON), dice.of(&COMMON), words);
        *words += 1;
        text += &format!("w{words}); ");
    }
    text.trim_end().to_owned()
}
