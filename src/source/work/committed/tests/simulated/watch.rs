//! Who looks at edits: screens and guards, each with what it remembers, and how often each was wrong.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::repository::Repository;
use super::truth::{CommitText, Truth, Words, has_most, words_of};
use crate::core::model::{Doing, Edit, EditState, Format, Medium, Repo, Untrusted, Work, Worktree};
use crate::source::repos::objects::Name;
use crate::source::work::committed::marker::{Marker, mark_work};
use crate::source::work::committed::{CommitCache, EditFacts, Heads, just_moved_to};

/// How many stories of each fault are shown, the shortest ones.
const MOST_STORIES: usize = 4;

/// One edit of a session: the last of a file.
pub(super) struct TrueEdit {
    /// Its number among all of the world.
    pub(super) number: usize,
    pub(super) at: Timestamp,
    /// The words that it wrote.
    pub(super) own: Vec<u32>,
    pub(super) left: String,
    pub(super) known: EditFacts,
}

/// The edits of a world, by session and path.
pub(super) type TrueEdits = BTreeMap<(usize, PathBuf), TrueEdit>;

/// A working tree.
pub(super) struct TrueTree {
    pub(super) top: PathBuf,
    /// Its name among git's.
    pub(super) id: String,
}

impl TrueTree {
    pub(super) fn own_dir(&self, common: &Path) -> PathBuf {
        if self.id.is_empty() { common.to_path_buf() } else { common.join("worktrees").join(&self.id) }
    }
}

/// Where the words of an edit are.
#[derive(Debug, Default)]
struct Whereabouts {
    file: bool,
    index: bool,
    commit: bool,
    stash: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Watcher {
    /// A screen that has looked after every command.
    Steady,
    /// A screen that looks now and then.
    Seldom,
    /// A screen that has just been opened.
    Fresh,
    /// By what a guard's hook has written down.
    Guard,
    /// By the bytes that an edit left.
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Judged,
    Unknown,
    WronglyGone,
    WronglyCommitted,
    WronglyPresent,
    WronglyStashed,
}

#[derive(Default)]
pub(super) struct Counts {
    edits: usize,
    judgments: BTreeMap<(Watcher, Grade), usize>,
    /// How edits were reported that are nowhere, and those that are in the file or in a commit.
    reported: BTreeMap<(Watcher, bool), BTreeMap<EditState, usize>>,
    /// The edits that were reported wrongly.
    wrong: BTreeMap<(Watcher, Grade), BTreeSet<(u64, usize)>>,
    /// The stories of some, from the edit on.
    stories: BTreeMap<(Watcher, Grade), Vec<String>>,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.edits += other.edits;
        for (key, count) in other.judgments {
            *self.judgments.entry(key).or_default() += count;
        }
        for (key, states) in other.reported {
            let all = self.reported.entry(key).or_default();
            states.into_iter().for_each(|(state, count)| *all.entry(state).or_default() += count);
        }
        for (key, edits) in other.wrong {
            self.wrong.entry(key).or_default().extend(edits);
        }
        for (key, stories) in other.stories {
            let all = self.stories.entry(key).or_default();
            all.extend(stories);
            all.sort_by_key(String::len);
            all.truncate(MOST_STORIES);
        }
    }

    pub(super) fn is_right(&self) -> bool {
        let count = |grade| {
            let all = self.wrong.iter().filter(|((_, of), _)| *of == grade);
            all.map(|(_, edits)| edits.len()).max().unwrap_or_default()
        };
        count(Grade::WronglyCommitted) == 0 && 1_000 * count(Grade::WronglyGone) <= self.edits
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} edits", self.edits)?;
        for ((watcher, grade), count) in &self.judgments {
            let edits = self.wrong.get(&(*watcher, *grade)).map(BTreeSet::len);
            let edits = edits.map(|edits| format!(", {edits} edits")).unwrap_or_default();
            writeln!(f, "{watcher:?} {grade:?}: {count} judgments{edits}")?;
        }
        for ((watcher, is_somewhere), states) in &self.reported {
            let place = if *is_somewhere { "somewhere" } else { "nowhere" };
            writeln!(f, "{watcher:?}, {place}: {states:?}")?;
        }
        for ((watcher, grade), stories) in &self.stories {
            writeln!(f, "=== {watcher:?} {grade:?}")?;
            stories.iter().try_for_each(|story| writeln!(f, "{story}"))?;
        }
        Ok(())
    }
}

/// All that look at one world.
pub(super) struct Watchers {
    seed: u64,
    steady: CommitCache,
    seldom: CommitCache,
    pub(super) counts: Counts,
}

impl Watchers {
    pub(super) fn new(seed: u64) -> Self {
        let (steady, seldom) = (CommitCache::default(), CommitCache::default());
        Self { seed, steady, seldom, counts: Counts::default() }
    }

    /// Returns the commit that a guard's hook finds just checked out before an edit.
    pub(super) fn upon(tree: &TrueTree, common: &Path, now: Timestamp) -> Option<Name> {
        just_moved_to(&tree.own_dir(common), now, rustix::process::geteuid().as_raw())
    }

    pub(super) fn count_edit(&mut self) {
        self.counts.edits += 1;
    }

    /// Has some look at all edits, and compares what they see with the bytes.
    pub(super) fn look(
        &mut self,
        watchers: &[Watcher],
        (edits, trees): (&TrueEdits, &[TrueTree]),
        (repository, truth): (&Repository, &mut Truth),
    ) {
        truth.renew();
        let common = trees[0].top.join(".git");
        let worktrees = trees.iter().map(|tree| Worktree {
            path: tree.top.clone(),
            id: tree.id.clone(),
            branch: Some("main".into()),
            exists: true,
            ..Worktree::default()
        });
        let repos = [Repo { common_dir: common, worktrees: worktrees.collect(), ..Repo::default() }];
        let whereabouts = whereabouts(edits, trees, truth);
        for watcher in watchers {
            let states = match watcher {
                Watcher::Steady => by_screen(&mut self.steady, edits, &repos, repository.now),
                Watcher::Seldom => by_screen(&mut self.seldom, edits, &repos, repository.now),
                Watcher::Fresh => by_screen(&mut CommitCache::default(), edits, &repos, repository.now),
                Watcher::Guard | Watcher::Bytes => by_facts(*watcher, edits, &repos, repository),
            };
            for ((key, edit), state) in edits.iter().zip(&states) {
                self.grade(*watcher, (key, edit), (*state, &whereabouts[key]), repository);
            }
        }
    }

    fn grade(
        &mut self,
        watcher: Watcher,
        (key, edit): (&(usize, PathBuf), &TrueEdit),
        (state, there): (EditState, &Whereabouts),
        repository: &Repository,
    ) {
        let grade = match state {
            EditState::Unknown => Grade::Unknown,
            EditState::Gone if there.file || there.index || there.commit || there.stash => Grade::WronglyGone,
            EditState::Committed if !there.commit => Grade::WronglyCommitted,
            EditState::Present if !there.file && !there.index => Grade::WronglyPresent,
            EditState::Stashed if !there.stash => Grade::WronglyStashed,
            EditState::Gone
            | EditState::Committed
            | EditState::Present
            | EditState::Stashed
            | EditState::Superseded => Grade::Judged,
        };
        *self.counts.judgments.entry((watcher, grade)).or_default() += 1;
        let is_somewhere = there.file || there.index || there.commit || there.stash;
        *self.counts.reported.entry((watcher, is_somewhere)).or_default().entry(state).or_default() += 1;
        if grade > Grade::Unknown {
            let wrong = self.counts.wrong.entry((watcher, grade)).or_default();
            if wrong.insert((self.seed, edit.number)) {
                let stories = self.counts.stories.entry((watcher, grade)).or_default();
                stories.push(told(self.seed, (key, edit), there, repository));
            }
        }
    }
}

/// Returns the story of an edit until now.
fn told(
    seed: u64,
    (key, edit): (&(usize, PathBuf), &TrueEdit),
    there: &Whereabouts,
    repository: &Repository,
) -> String {
    let begins = format!(" edit {} ", edit.number);
    let begin = repository.story.iter().rposition(|line| line.contains(&begins));
    let story = repository.story[begin.unwrap_or_default().saturating_sub(4)..].join("\n    ");
    let name = key.1.strip_prefix(&repository.root).unwrap().display();
    let now = std::fs::read_to_string(&key.1).unwrap_or_default();
    format!(
        "seed {seed}: edit {} of s{} {name} {there:?}, wrote {:?}\n    {story}\n  left {:?}\n  now {:?}",
        edit.number,
        key.0,
        edit.own,
        sorted(&edit.left),
        sorted(&now),
    )
}

fn sorted(text: &str) -> Vec<u32> {
    let mut words: Vec<u32> = words_of(text).into_iter().collect();
    words.sort_unstable();
    words
}

/// Has a screen look, as the pane of a window does.
fn by_screen(kept: &mut CommitCache, edits: &TrueEdits, repos: &[Repo], now: Timestamp) -> Vec<EditState> {
    let mut work: BTreeMap<usize, Arc<Work>> = BTreeMap::new();
    for ((session, path), edit) in edits {
        let new = || {
            Arc::new(Work {
                format: Format::ClaudeCode,
                session: Untrusted::from(format!("s{session}").as_str()),
                path: PathBuf::from(format!("/home/s{session}.jsonl")).into(),
                medium: Medium::default(),
                written_at: now,
                doing: Doing::default(),
                agents: Vec::new(),
                warnings: Vec::new(),
                skipped: 0,
            })
        };
        let work = work.entry(*session).or_insert_with(new);
        Arc::make_mut(work).doing.edits.push(Edit::new(Untrusted::from_path(path), Some(edit.at)));
    }
    let uid = rustix::process::geteuid().as_raw();
    let mut all: Vec<&mut Arc<Work>> = work.values_mut().collect();
    mark_work(&mut all, Heads::new((repos, &[]), (now, SignedDuration::ZERO), uid, kept));
    work.values().flat_map(|work| work.doing.edits.iter().map(|edit| edit.fate.state)).collect()
}

fn by_facts(watcher: Watcher, edits: &TrueEdits, repos: &[Repo], repository: &Repository) -> Vec<EditState> {
    let uid = rustix::process::geteuid().as_raw();
    let mut marker = Marker::new((repos.to_vec(), Vec::new()), (repository.now, uid), &repository.root);
    let mut asked: Vec<(Edit, EditFacts)> = Vec::new();
    for ((_, path), edit) in edits {
        let known = match watcher {
            Watcher::Bytes => {
                marker.remember((path, edit.at), edit.left.as_bytes());
                EditFacts { held: edit.known.held, ..EditFacts::default() }
            }
            Watcher::Steady | Watcher::Seldom | Watcher::Fresh | Watcher::Guard => edit.known,
        };
        asked.push((Edit::new(Untrusted::from_path(path), Some(edit.at)), known));
    }
    marker.mark(asked.iter_mut().map(|(edit, known)| (edit, *known)));
    asked.iter().map(|(edit, _)| edit.fate.state).collect()
}

/// Finds the words of all edits.
fn whereabouts<'a>(
    edits: &'a TrueEdits,
    trees: &[TrueTree],
    truth: &mut Truth,
) -> HashMap<&'a (usize, PathBuf), Whereabouts> {
    let of_tree = |tree: &TrueTree| (tree.top.clone(), files_of(&tree.top), truth.index_of(&tree.top));
    let of_trees: Vec<(PathBuf, Vec<Words>, Arc<Vec<Words>>)> = trees.iter().map(of_tree).collect();
    let find = |(key, edit): (&'a (usize, PathBuf), &TrueEdit)| {
        let is_in = |texts: &[Words]| texts.iter().any(|text| has_most(text, &edit.own));
        let own = of_trees.iter().find(|(top, ..)| key.1.starts_with(top));
        let (file, index) = own.map(|(_, files, staged)| (is_in(files), is_in(staged))).unwrap_or_default();
        let has = |commit: &CommitText| commit.files.values().any(|text| has_most(text, &edit.own));
        let commit = truth.all.values().any(|commit| has(commit));
        let stash = truth.stashes.iter().any(|commit| has(commit));
        (key, Whereabouts { file, index, commit, stash })
    };
    edits.iter().map(find).collect()
}

fn files_of(folder: &Path) -> Vec<Words> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(files_of(&entry.path())),
            false => all.push(words_of(&std::fs::read_to_string(entry.path()).unwrap_or_default())),
        }
    }
    all
}
