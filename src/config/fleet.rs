//! The database in which machines meet, and what this one publishes there.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use crate::core::fleet::order::Accepts;
use crate::core::model::Secret;
use crate::core::model::text::named::named;

named! {
    /// How the paths of this machine are shown to others.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    pub(crate) enum Paths {
        /// Relative to their repository, or to the home.
        #[default]
        Relative = "relative",
        /// As they are.
        Whole = "whole",
    }
}

named! {
    /// Which orders this machine takes through the database.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    pub(crate) enum Accept {
        /// None.
        #[default]
        Never = "never",
        /// Only what needs no more than a plain yes: what is proven dead.
        DeadOnly = "dead-only",
        /// All that a person could confirm here, with what must be typed.
        Typed = "typed",
    }
}

impl Accept {
    /// Returns it as the orders of any machine are.
    pub(crate) fn accepts(self) -> Accepts {
        match self {
            Self::Never => Accepts::Never,
            Self::DeadOnly => Accepts::DeadOnly,
            Self::Typed => Accepts::All,
        }
    }
}

/// What a witness is set to, and who asks others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Publishing {
    /// The team whose members may see this machine.
    pub(crate) team: Option<String>,
    /// How its paths are published.
    pub(crate) paths: Paths,
    /// Which orders it takes.
    pub(crate) accept: Accept,
    /// Whose orders it takes, as `ssh-keygen -Y verify` has it; without it they need no signature.
    pub(crate) allowed_signers: Option<PathBuf>,
    /// The SSH key that orders to others are signed with.
    pub(crate) sign_with: Option<PathBuf>,
}

/// `[fleet]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FleetKeys {
    pub(super) url: Option<Secret>,
    team: Option<String>,
    paths: Option<Paths>,
    accept: Option<Accept>,
    allowed_signers: Option<Spanned<String>>,
    sign_with: Option<Spanned<String>>,
}

impl FleetKeys {
    /// Returns what is set; `absolute` reads a path that is called so.
    ///
    /// # Errors
    /// A path is none.
    pub(super) fn publishing<E>(
        self,
        absolute: impl Fn(&Spanned<String>, &str) -> Result<PathBuf, E>,
    ) -> Result<Publishing, E> {
        let path =
            |path: Option<Spanned<String>>, what: &str| path.map(|path| absolute(&path, what)).transpose();
        Ok(Publishing {
            team: self.team,
            paths: self.paths.unwrap_or_default(),
            accept: self.accept.unwrap_or_default(),
            allowed_signers: path(self.allowed_signers, "a file of allowed signers")?,
            sign_with: path(self.sign_with, "a key")?,
        })
    }
}
