//! The database in which machines meet, and what this one tells there.

use serde::Deserialize;

use crate::core::model::Secret;
use crate::core::model::named::named;

named! {
    /// How the paths of this machine are told to others.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    pub(crate) enum Paths {
        /// Relative to their repository, or to the home.
        #[default]
        Relative = "relative",
        /// As they are.
        Whole = "whole",
    }
}

/// What a witness is set to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Publishing {
    /// The team whose members may see this machine.
    pub(crate) team: Option<String>,
    /// How its paths are told.
    pub(crate) paths: Paths,
}

/// `[fleet]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FleetKeys {
    pub(super) url: Option<Secret>,
    team: Option<String>,
    paths: Option<Paths>,
}

impl FleetKeys {
    pub(super) fn publishing(self) -> Publishing {
        Publishing { team: self.team, paths: self.paths.unwrap_or_default() }
    }
}
