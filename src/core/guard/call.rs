//! One call of a shell line that reaches into the uncommitted work of others.

use crate::core::guard::git::reach::{Reach, Takes, TrackedFiles, is_pattern};
use crate::core::model::snapshot::ledger::Harm;

/// A call of git, or of a program that removes, moves or overwrites files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeCall {
    /// The folder that it works in, absolute.
    pub(crate) folder: String,
    /// Its verb, such as `stash`; of other programs than git their name.
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
    /// What it takes of other working trees that lie in its reach.
    pub(crate) inner: InnerTrees,
    /// Whether it takes only what lies below the paths that it names.
    pub(crate) below_only: bool,
    /// Which of git's settings decides what it does; `None` if none does.
    pub(crate) by_setting: Option<DecidingSetting>,
    /// Settings that the call gives itself (`git -c`), names in lower case.
    pub(crate) settings: Vec<(String, String)>,
    /// Whether it is to overwrite files that git would carry over, or refuse to touch.
    pub(crate) is_forced: bool,
    /// The files in git's folder of which one must exist for it to end anything; empty if it does not end anything.
    pub(crate) during: &'static [&'static str],
    /// Whether git makes it; otherwise another program.
    pub(crate) is_git: bool,
    /// Whether it only begins a branch where the tree is, and leaves every file as it is.
    pub(crate) begins_branch: bool,
}

/// What a call takes of other working trees that lie in its reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InnerTrees {
    Nothing,
    /// All of those that are no submodules: `clean -ffd`.
    Worktrees,
    /// All that lies there, of any kind.
    Everything,
    /// What it takes itself, of each submodule.
    Submodules,
    /// A shell line is run in each submodule.
    Line(String),
}

/// A setting of git's that decides what a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecidingSetting {
    /// `rebase.autoStash`.
    Rebase,
    /// `merge.autoStash`.
    Merge,
    /// The same two, whichever way `pull` goes: by rebase or merge if the call says so, else by `branch.*.rebase` and
    /// `pull.rebase`.
    Pull { by_rebase: Option<bool> },
    /// A `pre-commit` hook that stashes is installed.
    CommitHook,
}

/// Programs that change files in place, or move them: what is not to be changed of them stays.
const KEEPING: [&str; 3] = ["mv", "sed -i", "perl -i"];

impl TreeCall {
    /// Returns a call of git that takes what it reaches of the files that git knows.
    pub(crate) fn of_git(verb: &'static str, folder: &str, reach: Reach) -> Self {
        Self {
            takes: Takes::known(TrackedFiles::Changed),
            inner: InnerTrees::Nothing,
            is_forced: false,
            is_git: true,
            ..Self::of_files(verb, folder, reach)
        }
    }

    /// Returns a call of another program than git.
    pub(crate) fn of_files(verb: &'static str, folder: &str, reach: Reach) -> Self {
        Self {
            folder: folder.to_owned(),
            verb,
            reach,
            takes: Takes::ALL,
            spares: Vec::new(),
            left_out: Vec::new(),
            onto: None,
            inner: InnerTrees::Everything,
            below_only: false,
            by_setting: None,
            settings: Vec::new(),
            is_forced: true,
            during: &[],
            is_git: false,
            begins_branch: false,
        }
    }

    /// Returns it as it is named to a model.
    pub(crate) fn label(&self) -> String {
        match (self.is_git, self.by_setting) {
            (true, Some(DecidingSetting::CommitHook)) => "the hook of `git commit`".to_owned(),
            (true, _) => format!("`git {}`", self.verb),
            (false, _) => format!("`{}`", self.verb),
        }
    }

    /// Returns the fate of the files that it takes.
    pub(crate) fn harm(&self) -> Harm {
        match self.verb {
            "commit" if self.by_setting == Some(DecidingSetting::CommitHook) => Harm::Stashed,
            "merge" | "rebase" | "pull" if self.by_setting.is_some() => Harm::Stashed,
            "add -A" | "add" | "commit" | "commit -a" | "merge" | "rebase" | "pull" => Harm::Kept,
            "checkout" | "switch" if !self.is_forced && self.reach == Reach::Tree => Harm::Kept,
            "stash" | "pull --autostash" => Harm::Stashed,
            verb if !self.is_git && KEEPING.contains(&verb) => Harm::Kept,
            _ => Harm::Lost,
        }
    }

    /// Returns the fate of a whole working tree that it takes.
    pub(crate) fn of_tree(&self, folder: String) -> Self {
        let (reach, takes) = (Reach::Tree, Takes::ALL);
        Self { folder, reach, takes, spares: Vec::new(), left_out: Vec::new(), ..self.clone() }
    }

    /// Settles what git's settings decide; `None` if it then takes nothing.
    pub(crate) fn with_settings(self, is_on: impl Fn(DecidingSetting) -> bool) -> Option<Self> {
        match self.by_setting {
            None => Some(self),
            Some(setting) if is_on(setting) => Some(self),
            // Without that they still are held up for what they carry over.
            Some(DecidingSetting::Rebase | DecidingSetting::Merge) => Some(Self { by_setting: None, ..self }),
            Some(DecidingSetting::Pull { .. } | DecidingSetting::CommitHook) => None,
        }
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
