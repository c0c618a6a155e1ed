//! The rules by which records may be let go.

use serde::{Deserialize, Serialize};

/// Why something is never done, and what to do instead.
pub(crate) type Refusal = (&'static str, &'static str);

/// Whether claimtop lets the records of a system go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LetGo {
    /// By its verdict: what is dead with one key, the rest with more.
    ByVerdict,
    /// Only what is proven dead.
    OnlyDead,
    /// Not at all: only its own system knows how.
    #[default]
    Never,
}
