//! Foresees whether the present states of working trees can be merged, without touching their repository: neither its
//! objects, index and times, nor any program that it names.

mod changes;
mod kinds;
pub(crate) mod memory;
mod merge_output;
pub(crate) mod merges;
mod overlap;
mod pair;
mod scratch;
mod settings;
mod state;
#[cfg(test)]
mod tests;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rustix::fs::stat;

use self::changes::Changes;
use self::memory::{Memory, PairKey};
use self::pair::Merge;
use self::scratch::{Access, Scratch};
use self::state::{Place, State};
use crate::core::model::{Forecast, ForecastSide, Outcome, Untrusted};
use crate::source::database::sqlite::copies::Copies;
use crate::source::git::Asker;
use crate::source::git::run::Git;
use crate::source::os::clock;
use crate::source::os::fence::Fence;
use crate::source::repos::locate::{git_dir, repository_at};
use crate::source::repos::worktrees::branch;

/// The most working trees of one repository.
const MOST_TREES: usize = 16;
/// The largest object that a merge may need, in bytes.
const MOST_OBJECT: u64 = 32 << 20;
/// The most bytes of all objects of one repository.
const MOST_OBJECTS: u64 = 512 << 20;

/// Where git is, what it may read, and where it may write.
pub(crate) struct Foreseer<'a> {
    /// How to run git.
    pub(crate) asker: &'a Asker,
    /// The folder for what is thrown away.
    pub(crate) copies: &'a Copies,
    /// What may be read.
    pub(crate) fence: &'a Fence,
}

/// What was foreseen.
#[derive(Debug, Default)]
pub(crate) struct Foresight {
    pub(crate) forecasts: Vec<Forecast>,
    /// The working trees that are not compared, as their repository has too many.
    pub(crate) left_out: Vec<PathBuf>,
}

/// One pair of sides, by their numbers; without a right one the branch that the left goes to.
type Pair = (usize, Option<usize>);

/// A branch that working trees go to.
struct Target {
    branch: Untrusted,
    commit: String,
    tree: String,
}

/// What two sides have in common, and what each has beyond.
struct Common {
    base: String,
    commits: [u64; 2],
}

impl Foreseer<'_> {
    /// Foresees every pair of these working trees that belong to one repository, and each against the branch it goes to.
    /// Pairs that are as they were are taken from the memory.
    pub(crate) fn foresee(&self, trees: &[PathBuf], memory: &mut Memory) -> Foresight {
        let mut repositories: BTreeMap<PathBuf, (Option<PathBuf>, Vec<PathBuf>)> = BTreeMap::new();
        for tree in trees.iter().collect::<BTreeSet<_>>() {
            if let Some(located) = repository_at(tree, self.fence) {
                let entry = repositories.entry(located.common_dir).or_insert((located.main, Vec::new()));
                entry.1.push(tree.clone());
            }
        }
        let mut found = Foresight::default();
        memory.begin(clock::steady());
        for (common, (main, mut trees)) in repositories {
            found.left_out.extend(trees.split_off(trees.len().min(MOST_TREES)));
            found.forecasts.extend(self.repository(&common, main.as_deref(), &trees, memory));
        }
        memory.end();
        found
    }

    fn repository(
        &self,
        common: &Path,
        main: Option<&Path>,
        trees: &[PathBuf],
        memory: &mut Memory,
    ) -> Vec<Forecast> {
        let places: Vec<Place> = trees.iter().map(|tree| place(tree, common)).collect();
        let whole = self.asker.program().ok_or_else(|| "git was not found".to_owned()).and_then(|program| {
            let scratch = Scratch::new(&program, &self.asker.home, self.copies, common)?;
            Ok((program, scratch))
        });
        let (program, scratch) = match whole {
            Ok(whole) => whole,
            Err(why) => return all_unknown(common, &places, &why),
        };
        let git = |place: &Place| Git {
            program: program.clone(),
            home: self.asker.home.clone(),
            tree: place.tree.clone(),
            own: place.own.clone(),
            filters: Vec::new(),
        };
        let state = |place: &Place| {
            if !is_ours(place) {
                return Err("it belongs to another user".to_owned());
            }
            State::read(&scratch, &git(place), place)
        };
        let goal = goal((common, main), &places, &git);
        if places.len() < 2 && goal.is_none() {
            return Vec::new();
        }
        let states: Vec<Result<State, String>> = places.iter().map(state).collect();
        let first = states.iter().flatten().next();
        let target = first.zip(goal).and_then(|(first, (branch, commit))| {
            let tree = tree_of(&scratch, first, &commit).ok()?;
            Some(Target { branch, commit, tree })
        });
        Sides { scratch: &scratch, common, places: &places, states: &states, target: target.as_ref() }
            .forecasts(memory)
    }
}

/// Reads where a working tree keeps what is its own.
fn place(tree: &Path, common: &Path) -> Place {
    let own = git_dir(tree).unwrap_or_else(|| common.to_path_buf());
    Place { branch: branch(&own.join("HEAD")), tree: tree.to_path_buf(), own, common: common.to_path_buf() }
}

/// Returns whether a working tree and its repository belong to this user; git itself refuses others.
fn is_ours(place: &Place) -> bool {
    let uid = rustix::process::geteuid().as_raw();
    [&place.tree, &place.own, &place.common]
        .into_iter()
        .all(|path| stat(path).is_ok_and(|stat| stat.st_uid == uid))
}

/// Finds the branch that working trees go to, and its commit: that of the main working tree, else `main` or `master`;
/// never one that is checked out in one of them.
fn goal(
    (common, main): (&Path, Option<&Path>),
    places: &[Place],
    git: &dyn Fn(&Place) -> Git,
) -> Option<(Untrusted, String)> {
    let of_main = main.and_then(|_| branch(&common.join("HEAD")));
    let candidates = of_main.into_iter().chain(["main".into(), "master".into()]);
    let is_free = |branch: &Untrusted| !places.iter().any(|place| place.branch.as_ref() == Some(branch));
    let git = git(places.first()?);
    candidates.filter(is_free).find_map(|branch| {
        let name = format!("refs/heads/{}", branch.raw());
        let commit = git.ask(&["rev-parse", "--verify", "-q", &name]).filter(|answer| answer.code == 0)?;
        Some((branch, String::from_utf8_lossy(commit.out.trim_ascii()).into_owned()))
    })
}

fn tree_of(scratch: &Scratch, state: &State, commit: &str) -> Result<String, String> {
    let name = format!("{commit}^{{tree}}");
    scratch.line(&state.desk, Access::Repository, None, &["rev-parse", "--verify", "-q", &name])
}

fn all_unknown(common: &Path, places: &[Place], why: &str) -> Vec<Forecast> {
    let pairs = pairs(places.len(), false);
    let all = pairs.into_iter().map(|(left, right)| {
        let side = |at: usize| places.get(at).map(side_of).unwrap_or_default();
        let sides = [side(left), right.map(side).unwrap_or_default()];
        let (outcome, conflicts) = (Outcome::Unknown, Vec::new());
        Forecast {
            repository: Untrusted::from_path(common),
            sides,
            outcome,
            why: Some(why.into()),
            conflicts,
        }
    });
    all.collect()
}

fn side_of(place: &Place) -> ForecastSide {
    ForecastSide {
        tree: Some(Untrusted::from_path(&place.tree)),
        branch: place.branch.clone(),
        ..ForecastSide::default()
    }
}

fn pairs(count: usize, has_target: bool) -> Vec<Pair> {
    let trees = (0..count).flat_map(|left| (left + 1..count).map(move |right| (left, Some(right))));
    let target = (0..count).filter(|_| has_target).map(|left| (left, None));
    trees.chain(target).collect()
}

/// The working trees of one repository, and the branch that they go to.
struct Sides<'a> {
    scratch: &'a Scratch,
    common: &'a Path,
    places: &'a [Place],
    states: &'a [Result<State, String>],
    target: Option<&'a Target>,
}

/// What all pairs of one repository need, prepared once.
#[derive(Default)]
struct Preparation {
    /// The changes of a tree against a base.
    changes: BTreeMap<(String, String), Changes>,
    /// A commit for each of them, on a commit of the base alone.
    commits: BTreeMap<(String, String), String>,
}

impl Sides<'_> {
    fn forecasts(&self, memory: &mut Memory) -> Vec<Forecast> {
        let pairs = pairs(self.states.len(), self.target.is_some());
        let keys: Vec<Option<PairKey>> = pairs.iter().map(|pair| self.key(*pair)).collect();
        let known: Vec<Option<Forecast>> =
            keys.iter().map(|key| memory.recall(key.as_ref()?).cloned()).collect();
        let new = || pairs.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(pair, _)| *pair);
        let commons: BTreeMap<Pair, Result<Common, String>> =
            new().map(|pair| (pair, self.scratch.for_pair(|| self.common(pair)))).collect();
        let prepared = self.prepare(&commons);
        let all = pairs.iter().zip(keys).zip(known.iter().cloned());
        let all = all.map(|((pair, key), known)| {
            known.unwrap_or_else(|| {
                let forecast = self.forecast(*pair, commons.get(pair), &prepared);
                memory.learn(key, &forecast);
                forecast
            })
        });
        all.collect()
    }

    /// Returns what decides the forecast of a pair: the states of both sides. None if one of them is not known.
    fn key(&self, pair: Pair) -> Option<PairKey> {
        let (left, right) = self.both(pair).ok()?;
        let (head, tree) = self.right(right).ok()?;
        let place = |at: usize| self.places.get(at).map(|place| place.tree.clone());
        let settings = |state: &State| state.settings.harmless();
        Some(PairKey {
            repository: self.common.to_path_buf(),
            places: [place(pair.0), pair.1.and_then(place)],
            states: [left.head.clone(), left.tree.clone(), head.to_owned(), tree.to_owned()],
            settings: [settings(left), right.map(settings).unwrap_or_default()],
        })
    }

    /// Returns both states of a pair, or why there is none.
    fn both(&self, (left, right): Pair) -> Result<(&State, Option<&State>), String> {
        let of = |at: usize| {
            let name = || self.places.get(at).map(|place| Untrusted::from_path(&place.tree).shown());
            let state = self.states.get(at).map(Result::as_ref);
            state
                .unwrap_or(Err(&String::new()))
                .map_err(|why| format!("{}: {why}", name().unwrap_or_default()))
        };
        Ok((of(left)?, right.map(of).transpose()?))
    }

    /// Returns the commit and the tree of a pair's right side.
    fn right<'a>(&'a self, right: Option<&'a State>) -> Result<(&'a str, &'a str), String> {
        let state = right.map(|state| (state.head.as_str(), state.tree.as_str()));
        let target = || self.target.map(|target| (target.commit.as_str(), target.tree.as_str()));
        state.or_else(target).ok_or_else(|| "there is no branch to go to".to_owned())
    }

    fn common(&self, pair: Pair) -> Result<Common, String> {
        let (left, right) = self.both(pair)?;
        let (head, _) = self.right(right)?;
        if head == left.head {
            return Ok(Common { base: head.to_owned(), commits: [0, 0] });
        }
        let ask = |arguments: &[&str]| self.scratch.run(&left.desk, Access::Repository, None, arguments);
        let bases = ask(&["merge-base", "--all", &left.head, head])?;
        let bases = String::from_utf8_lossy(&bases.out).into_owned();
        let base = match bases.lines().collect::<Vec<_>>()[..] {
            [base] => base.to_owned(),
            [] => return Err("they have no commit in common".to_owned()),
            [..] => return Err("their histories have crossed: they have more than one base".to_owned()),
        };
        let range = format!("{}...{head}", left.head);
        let counts = self.scratch.line(
            &left.desk,
            Access::Repository,
            None,
            &["rev-list", "--count", "--left-right", &range],
        )?;
        let mut counts = counts.split('\t').map(|count| count.parse().unwrap_or_default());
        Ok(Common { base, commits: [counts.next().unwrap_or_default(), counts.next().unwrap_or_default()] })
    }

    /// Collects what every pair needs in the store.
    fn prepare(&self, commons: &BTreeMap<Pair, Result<Common, String>>) -> Result<Preparation, String> {
        let mut prepared = Preparation::default();
        let mut objects: BTreeSet<String> = BTreeSet::new();
        let Some(first) = self.states.iter().flatten().next() else { return Ok(prepared) };
        let mut bases: BTreeMap<String, String> = BTreeMap::new();
        for (pair, common) in commons {
            let Ok(common) = common else { continue };
            let (left, right) = self.both(*pair)?;
            let (_, right) = self.right(right)?;
            if !bases.contains_key(&common.base) {
                bases.insert(common.base.clone(), tree_of(self.scratch, first, &common.base)?);
            }
            for tree in [left.tree.as_str(), right] {
                let key = (common.base.clone(), tree.to_owned());
                if let Entry::Vacant(place) = prepared.changes.entry(key) {
                    let changes = Changes::read(self.scratch, &first.desk, &common.base, tree)?;
                    objects.extend(changes.objects().map(str::to_owned));
                    place.insert(changes);
                }
            }
        }
        objects.extend(bases.values().cloned());
        objects.extend(self.target.map(|target| target.tree.clone()));
        self.fetch(first, &objects)?;
        let mut commits: BTreeMap<&str, String> = BTreeMap::new();
        for (base, tree) in &bases {
            commits.insert(base, self.commit(first, tree, None)?);
        }
        for (base, tree) in prepared.changes.keys() {
            let parent = commits.get(base.as_str()).map(String::as_str);
            prepared.commits.insert((base.clone(), tree.clone()), self.commit(first, tree, parent)?);
        }
        Ok(prepared)
    }

    /// Puts objects into the store, unless they are too large: a merge that needs such a one fails.
    fn fetch(&self, first: &State, objects: &BTreeSet<String>) -> Result<(), String> {
        let list: String = objects.iter().flat_map(|object| [object.as_str(), "\n"]).collect();
        let arguments = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
        let sizes =
            self.scratch.output(&first.desk, Access::Repository, Some(list.as_bytes()), &arguments)?;
        let sizes = String::from_utf8_lossy(&sizes);
        let fit = sizes.lines().filter_map(|line| {
            let (object, size) = line.split_once(' ')?;
            // One that is missing has no size.
            Some((object, size.parse::<u64>().ok()?)).filter(|(_, size)| *size <= MOST_OBJECT)
        });
        let fit: Vec<(&str, u64)> = fit.collect();
        if fit.iter().map(|(_, size)| size).sum::<u64>() > MOST_OBJECTS {
            return Err(format!("they change more than {} MiB", MOST_OBJECTS >> 20));
        }
        self.scratch.fetch(&first.desk, fit.into_iter().map(|(object, _)| object))
    }

    fn commit(&self, first: &State, tree: &str, parent: Option<&str>) -> Result<String, String> {
        let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
        let by = "claimtop <claimtop> 0 +0000";
        let text = format!("tree {tree}\n{parent}author {by}\ncommitter {by}\n\n");
        let arguments = ["hash-object", "-t", "commit", "-w", "--stdin"];
        self.scratch.line(&first.desk, Access::Own, Some(text.as_bytes()), &arguments)
    }

    fn forecast(
        &self,
        pair: Pair,
        common: Option<&Result<Common, String>>,
        prepared: &Result<Preparation, String>,
    ) -> Forecast {
        let merged = self.scratch.for_pair(|| self.merged(pair, common, prepared));
        let (outcome, conflicts, why) = match merged {
            Ok((outcome, conflicts)) => (outcome, conflicts, None),
            Err(why) => (Outcome::Unknown, Vec::new(), Some(why.into())),
        };
        let commits = common.and_then(|common| common.as_ref().ok()).map_or([0, 0], |common| common.commits);
        let (left, right) = pair;
        let side = |at: usize, commits: u64| {
            let uncommitted = self.states.get(at).and_then(|state| state.as_ref().ok());
            let uncommitted = uncommitted.map_or(0, |state| state.uncommitted);
            let side = self.places.get(at).map(side_of).unwrap_or_default();
            ForecastSide { commits, uncommitted, ..side }
        };
        let target = || ForecastSide {
            branch: self.target.map(|target| target.branch.clone()),
            commits: commits[1],
            ..ForecastSide::default()
        };
        let sides = [side(left, commits[0]), right.map_or_else(target, |right| side(right, commits[1]))];
        Forecast { repository: Untrusted::from_path(self.common), sides, outcome, why, conflicts }
    }

    fn merged(
        &self,
        pair: Pair,
        common: Option<&Result<Common, String>>,
        prepared: &Result<Preparation, String>,
    ) -> pair::MergeResult {
        let (left, right) = self.both(pair)?;
        let common = common.ok_or("it was not checked")?.as_ref().map_err(String::clone)?;
        let prepared = prepared.as_ref().map_err(String::clone)?;
        let key = |tree: &str| (common.base.clone(), tree.to_owned());
        let (_, right_tree) = self.right(right)?;
        let [one, other] = [key(&left.tree), key(right_tree)];
        let changes = |key| prepared.changes.get(key).ok_or("it was not compared");
        let commit = |key| prepared.commits.get(key).map(String::as_str).ok_or("it was not compared");
        let merge = Merge {
            scratch: self.scratch,
            left,
            right,
            changes: [changes(&one)?, changes(&other)?],
            commits: [commit(&one)?, commit(&other)?],
        };
        merge.run()
    }
}
