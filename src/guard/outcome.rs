//! What came of a call, and the line by which it is counted.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What came of a call, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GuardOutcome {
    Briefed,
    Noted,
    HeldUp,
    Overridden,
    /// A person was asked.
    Asked,
    /// A living window holds it for itself.
    Denied,
    /// An edit was written down.
    Recorded,
    /// It touches nothing that a guard knows of.
    OutOfScope,
    /// No other window holds anything there.
    NobodyElse,
    /// It was reported already.
    ToldBefore,
    /// Something went wrong; then nothing is said.
    Failed,
}

impl GuardOutcome {
    /// Returns the result for people.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Briefed => "briefed",
            Self::Noted => "noted",
            Self::HeldUp => "held up",
            Self::Asked => "had the person asked",
            Self::Denied => "denied: another window holds it",
            Self::Overridden => "went through when asked again",
            Self::Recorded => "nothing: wrote down an edit",
            Self::OutOfScope => "nothing: not in its scope",
            Self::NobodyElse => "nothing: nobody else holds it",
            Self::ToldBefore => "nothing: it was told before",
            Self::Failed => "nothing: something failed",
        }
    }
}

/// One line of what is counted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CountLine {
    pub(crate) at: Timestamp,
    pub(crate) agent: String,
    pub(crate) said: GuardOutcome,
    /// How long it took, in microseconds.
    pub(crate) took: u64,
}

/// What came of a call, and what is printed.
pub(crate) type GuardResponse = (GuardOutcome, Option<String>);
