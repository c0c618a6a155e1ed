//! Forecasts: whether the present states of two working trees of one repository can be merged.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::core::model::Untrusted;
use crate::core::model::report::need::quoted;
use crate::core::model::text::is_forbidden;
use crate::core::model::text::named::named;

named! {
    /// What a merge of two present states would do.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Outcome {
        /// They merge.
        Clean = "clean",
        /// They do not, or the result would be wrong.
        Conflicts = "conflicts",
        /// It could not be determined.
        #[default]
        Unknown = "unknown",
    }
}

named! {
    /// Why one path cannot be merged.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum ConflictKind {
        /// Both edit the same lines.
        Lines = "lines",
        /// Both make a file of this name.
        SameNewPath = "same-new-path",
        /// Both make a migration of this number.
        SameNumber = "same-number",
        /// Both change a file in which a package manager locks versions.
        LockFile = "lock-file",
        /// Both change a file that a program generates.
        Generated = "generated",
        /// One deletes what the other edits.
        DeletedAndEdited = "deleted-and-edited",
        /// One renames what the other renames, deletes or puts something else in the place of.
        Renamed = "renamed",
        /// One has a file where the other has a folder.
        FileAndFolder = "file-and-folder",
        /// Both change a file that is not text.
        Binary = "binary",
        /// One ignores a file of this name, and the other adds one: git replaces the ignored one without a word.
        Ignored = "ignored",
        /// They make different sorts of file of it, such as a link and a program.
        Sort = "sort",
        /// Something else, in git's words.
        Other = "other",
    }
}

impl ConflictKind {
    /// Returns what is wrong and, if it is not obvious, what to do about it.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::Lines => "both edit the same lines",
            Self::SameNewPath => "both make a new file of this name",
            Self::SameNumber => "both make a migration of this number: the second one takes the next number",
            Self::LockFile => "a lock file: take one and let the package manager write it again",
            Self::Generated => "a generated file: take one and generate it again",
            Self::DeletedAndEdited => "one deletes it, the other edits it",
            Self::Renamed => "renamed by one, and renamed, deleted or replaced by the other",
            Self::FileAndFolder => "a file in one, a folder in the other",
            Self::Binary => "both change it, and it is not text: take one",
            Self::Ignored => "ignored in one, which a merge would overwrite: the other adds it",
            Self::Sort => "a different sort of file in each",
            Self::Other => "git cannot merge it",
        }
    }
}

/// Some consecutive lines of a file; none where lines were only removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lines {
    /// The first of them, counted from 1; of none the line after which they were.
    pub first: usize,
    /// How many.
    pub count: usize,
}

impl Lines {
    /// Returns text such as `12-14`.
    pub(crate) fn to_text(self) -> String {
        match (self.first, self.count) {
            (first, 0) => format!("after {first}"),
            (first, 1) => first.to_string(),
            (first, count) => format!("{first}-{}", first + count - 1),
        }
    }
}

/// One path that cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The path, below the working tree.
    pub path: Untrusted,
    /// Why.
    pub kind: ConflictKind,
    /// The lines of each side, in the order of the sides, one entry for each place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<[Lines; 2]>,
}

/// One side of a forecast.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForecastSide {
    /// The working tree; `None` for a branch alone.
    pub tree: Option<Untrusted>,
    /// The branch; `None` with a detached head.
    pub branch: Option<Untrusted>,
    /// How many commits it has that the other side has not.
    pub commits: u64,
    /// How many files of it are not committed.
    pub uncommitted: usize,
}

/// What a merge of the present states of two sides would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forecast {
    /// The repository: its common directory.
    pub repository: Untrusted,
    /// The two sides.
    pub sides: [ForecastSide; 2],
    /// What it would do.
    pub outcome: Outcome,
    /// Why it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Untrusted>,
    /// The paths that cannot be merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
}

/// How much was foreseen, so that silence is not taken for health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForecastCounts {
    /// How often trees were compared.
    pub checks: u64,
    /// How many pairs were found to merge.
    pub clean: u64,
    /// How many were found not to.
    pub conflicts: u64,
    /// Of how many that could not be determined.
    pub unknown: u64,
    /// How many of these pairs were merged or rebased later, and ended as foreseen.
    pub came_true: u64,
    /// How many ended differently.
    pub did_not: u64,
}

impl ForecastCounts {
    /// Counts one pair.
    pub(crate) fn count(&mut self, outcome: Outcome) {
        let count = match outcome {
            Outcome::Clean => &mut self.clean,
            Outcome::Conflicts => &mut self.conflicts,
            Outcome::Unknown => &mut self.unknown,
        };
        *count += 1;
    }

    /// Returns how many pairs were compared.
    pub fn pairs(&self) -> u64 {
        self.clean + self.conflicts + self.unknown
    }

    /// Adds others to these.
    pub(crate) fn add(&mut self, other: Self) {
        let Self { checks, clean, conflicts, unknown, came_true, did_not } = other;
        for (own, more) in [
            (&mut self.checks, checks),
            (&mut self.clean, clean),
            (&mut self.conflicts, conflicts),
            (&mut self.unknown, unknown),
            (&mut self.came_true, came_true),
            (&mut self.did_not, did_not),
        ] {
            *own = own.saturating_add(more);
        }
    }
}

/// What an open claimtop has foreseen, as it keeps it in the state folder for other processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForecastBook {
    /// The forecasts of the last check.
    pub forecasts: Vec<Forecast>,
    /// When that was.
    pub checked_at: Option<Timestamp>,
    /// Since when pairs are counted.
    pub since: Option<Timestamp>,
    /// How many were counted.
    pub counts: ForecastCounts,
    /// The merges whose outcome is not known yet.
    pub expected: Vec<ExpectedMerge>,
}

/// A merge that is foreseen, until it happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpectedMerge {
    /// The repository: its common directory.
    pub repository: Untrusted,
    /// The two sides.
    pub sides: [ForecastSide; 2],
    /// What is foreseen.
    pub outcome: Outcome,
    /// When that was last found.
    pub at: Timestamp,
}

/// For how long a merge is expected.
const EXPECTED_FOR: SignedDuration = SignedDuration::from_hours(24 * 7);
/// How many are expected at most.
const MOST_EXPECTED: usize = 256;

impl ForecastBook {
    /// Takes in a check: its forecasts, what it has counted, and how expected merges have ended since.
    pub(crate) fn learn(
        &mut self,
        forecasts: Vec<Forecast>,
        counts: &[ForecastCounts],
        at: Timestamp,
        ended: &dyn Fn(&ExpectedMerge) -> Option<Outcome>,
    ) {
        counts.iter().for_each(|counts| self.counts.add(*counts));
        let counts = &mut self.counts;
        self.expected.retain(|expected| match ended(expected) {
            Some(outcome) => {
                let is_true = outcome == expected.outcome;
                *(if is_true { &mut counts.came_true } else { &mut counts.did_not }) += 1;
                false
            }
            None => at.duration_since(expected.at) < EXPECTED_FOR,
        });
        for forecast in forecasts.iter().filter(|forecast| forecast.outcome != Outcome::Unknown) {
            let Forecast { repository, sides, outcome, .. } = forecast;
            let is_same = |one: &ExpectedMerge| {
                let same = one.sides.iter().zip(sides).all(|(one, other)| one.is_same_place(other));
                one.repository == *repository && same
            };
            self.expected.retain(|one| !is_same(one));
            let (repository, sides, outcome) = (repository.clone(), sides.clone(), *outcome);
            self.expected.push(ExpectedMerge { repository, sides, outcome, at });
        }
        self.expected.drain(..self.expected.len().saturating_sub(MOST_EXPECTED));
        self.since.get_or_insert(at);
        (self.forecasts, self.checked_at) = (forecasts, Some(at));
    }
}

impl ForecastSide {
    fn is_same_place(&self, other: &Self) -> bool {
        (&self.tree, &self.branch) == (&other.tree, &other.branch)
    }
}

impl Forecast {
    /// Returns which side goes first: a branch alone, else the one that is further. The other one is rebased onto it.
    pub fn first(&self) -> usize {
        let further = |side: &ForecastSide| (side.tree.is_none(), side.commits, side.uncommitted);
        let [left, right] = &self.sides;
        usize::from(further(right) > further(left))
    }

    /// Returns whether neither side is a branch alone.
    pub fn is_between_trees(&self) -> bool {
        self.sides.iter().all(|side| side.tree.is_some())
    }

    /// Returns the commands that lead out: what each side commits, then one is rebased onto the other. There are none
    /// where a name could not be typed as it is shown.
    pub fn way_out(&self) -> Vec<String> {
        let (first, second) = match self.first() {
            0 => (&self.sides[0], &self.sides[1]),
            _ => (&self.sides[1], &self.sides[0]),
        };
        let commit = |side: &ForecastSide| match (&side.tree, side.uncommitted) {
            (Some(tree), 1..) => {
                let git = format!("git -C {}", typed(tree)?);
                Some(Some(format!("{git} add -A && {git} commit")))
            }
            _ => Some(None),
        };
        let commands = || {
            let onto = match (&first.branch, &first.tree) {
                (Some(branch), _) => typed(branch)?,
                (None, Some(tree)) => format!("\"$(git -C {} rev-parse HEAD)\"", typed(tree)?),
                (None, None) => return None,
            };
            let rebase = format!("git -C {} rebase {onto}", typed(second.tree.as_ref()?)?);
            Some([commit(first)?, commit(second)?, Some(rebase)].into_iter().flatten().collect())
        };
        commands().unwrap_or_default()
    }
}

/// Returns a name as it is typed in a shell; `None` if it is shown differently, or would be taken for an option.
fn typed(name: &Untrusted) -> Option<String> {
    let is_hidden = |c: char| is_forbidden(c) || c == '\\';
    let is_typed = !name.is_empty() && !name.raw().starts_with('-') && !name.raw().contains(is_hidden);
    is_typed.then(|| quoted(name.raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(tree: Option<&str>, branch: Option<&str>, commits: u64, uncommitted: usize) -> ForecastSide {
        ForecastSide { tree: tree.map(Into::into), branch: branch.map(Into::into), commits, uncommitted }
    }

    #[track_caller]
    fn check(sides: [ForecastSide; 2], expected: &[&str]) {
        let forecast = Forecast { sides, ..Forecast::default() };
        assert_eq!(forecast.way_out(), expected);
    }

    #[test]
    fn the_one_that_is_less_far_is_rebased_onto_the_other() {
        check(
            [side(Some("/s/api"), Some("api"), 2, 0), side(Some("/s/my ui"), Some("ui"), 1, 3)],
            &["git -C '/s/my ui' add -A && git -C '/s/my ui' commit", "git -C '/s/my ui' rebase api"],
        );
    }

    #[test]
    fn a_branch_alone_goes_first() {
        check(
            [side(Some("/s/api"), Some("api"), 2, 0), side(None, Some("main"), 0, 0)],
            &["git -C /s/api rebase main"],
        );
    }

    #[test]
    fn a_detached_head_is_named_by_its_tree() {
        check(
            [side(Some("/s/api"), None, 2, 0), side(Some("/s/ui"), None, 0, 0)],
            &["git -C /s/ui rebase \"$(git -C /s/api rev-parse HEAD)\""],
        );
    }

    #[test]
    fn what_cannot_be_typed_is_not_offered() {
        check([side(Some("/s/a\u{1b}b"), Some("a"), 2, 0), side(Some("/s/\u{1b}"), Some("b"), 0, 0)], &[]);
        check([side(Some("/s/a"), Some("--exec=x"), 2, 0), side(Some("/s/b"), Some("b"), 0, 0)], &[]);
    }
}
