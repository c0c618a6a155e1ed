//! What a guard says, for all working trees and for some.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::core::model::text::named::named;

named! {
    /// What becomes of a call that would reach what another window has not committed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    pub(crate) enum HoldUps {
        /// It goes through.
        Off = "off",
        /// It is refused once.
        HoldUp = "hold-up",
        /// The person is asked, by an agent that can; of others it is refused once.
        Ask = "ask",
    }
}

named! {
    /// What becomes of a call that would reach what a living window holds for itself (`claimtop hold`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    pub(crate) enum HoldPolicy {
        /// It goes through.
        Off = "off",
        /// It is refused once.
        HoldUp = "hold-up",
        /// It is refused as long as the window lives and holds it.
        Deny = "deny",
    }
}

/// What a guard says in one working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Levels {
    /// Whether a model is notified at a prompt of what others hold.
    pub(crate) brief: bool,
    /// Whether it is notified after an edit of whom that met.
    pub(crate) note: bool,
    /// What becomes of commands of git for the whole tree.
    pub(crate) git: HoldUps,
    /// What becomes of the first edit of a file that another window has edited a moment ago.
    pub(crate) edit: HoldUps,
    /// What becomes of a call that would reach what another window holds for itself.
    pub(crate) held: HoldPolicy,
}

/// What a person has set of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guard {
    all: Wish,
    /// The names of files and folders that are exempt from warnings.
    pub(crate) exempt: Vec<String>,
    trees: Vec<(PathBuf, Wish)>,
}

/// What is set; what is absent stays as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Wish {
    brief: Option<bool>,
    note: Option<bool>,
    git: Option<HoldUps>,
    edit: Option<HoldUps>,
    held: Option<HoldPolicy>,
}

/// The table `guard` of the configuration.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GuardKeys {
    brief: Option<bool>,
    note: Option<bool>,
    git: Option<HoldUps>,
    edit: Option<HoldUps>,
    held: Option<HoldPolicy>,
    exempt: Vec<String>,
    tree: Vec<TreeKeys>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeKeys {
    path: Spanned<String>,
    brief: Option<bool>,
    note: Option<bool>,
    git: Option<HoldUps>,
    edit: Option<HoldUps>,
    held: Option<HoldPolicy>,
}

impl GuardKeys {
    /// Takes what is set; a path is made absolute by the caller.
    ///
    /// # Errors
    /// Those of `absolute`.
    pub(super) fn guard<E>(
        self,
        absolute: impl Fn(&Spanned<String>) -> Result<PathBuf, E>,
    ) -> Result<Guard, E> {
        let Self { brief, note, git, edit, held, exempt, tree } = self;
        let one = |keys: TreeKeys| {
            let TreeKeys { path, brief, note, git, edit, held } = keys;
            Ok((absolute(&path)?, Wish { brief, note, git, edit, held }))
        };
        let trees = tree.into_iter().map(one).collect::<Result<_, _>>()?;
        Ok(Guard { all: Wish { brief, note, git, edit, held }, exempt, trees })
    }
}

impl Guard {
    /// Returns what is said in a working tree: as is set for the nearest folder above it, else for all.
    pub(crate) fn levels(&self, tree: &Path) -> Levels {
        let above = self.trees.iter().filter(|(path, _)| tree.starts_with(path));
        let nearest = above.max_by_key(|(path, _)| path.components().count()).map(|(_, wish)| *wish);
        let own = nearest.unwrap_or_default();
        Levels {
            brief: own.brief.or(self.all.brief).unwrap_or(true),
            note: own.note.or(self.all.note).unwrap_or(true),
            git: own.git.or(self.all.git).unwrap_or(HoldUps::HoldUp),
            edit: own.edit.or(self.all.edit).unwrap_or(HoldUps::Off),
            held: own.held.or(self.all.held).unwrap_or(HoldPolicy::HoldUp),
        }
    }

    /// Returns the working trees for which something of their own is set.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Path> {
        self.trees.iter().map(|(path, _)| path.as_path())
    }
}
