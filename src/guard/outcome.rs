//! What came of a call, and the line by which it is counted.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What came of a call, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GuardOutcome {
    Briefed,
    Noted,
    /// Uncommitted edits are gone.
    LostNoted,
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
    /// It was not done within the time limit; then nothing is said.
    TimedOut,
    /// Something went wrong; then nothing is said.
    Failed,
}

impl GuardOutcome {
    /// Returns the result for people.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Briefed => "briefed",
            Self::Noted => "noted",
            Self::LostNoted => "noted that edits are gone",
            Self::HeldUp => "held up",
            Self::Asked => "asked the person",
            Self::Denied => "denied: another window holds it",
            Self::Overridden => "went through when asked again",
            Self::Recorded => "nothing: recorded an edit",
            Self::OutOfScope => "nothing: not in its scope",
            Self::NobodyElse => "nothing: no other window holds it",
            Self::ToldBefore => "nothing: it was warned before",
            Self::TimedOut => "nothing: ran out of time",
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
    /// How many versions of files it could not keep.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) keep_failed: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The answer to a hook.
#[derive(Debug)]
pub(crate) struct HookAnswer {
    pub(crate) outcome: GuardOutcome,
    /// What is printed.
    pub(crate) text: Option<String>,
    /// How many versions of files could not be kept.
    pub(crate) keep_failed: u32,
    /// The answer without what it says of edits that are gone.
    pub(crate) but_losses: GuardResponse,
}

impl HookAnswer {
    /// Nothing is said, and nothing was done.
    pub(crate) const OUT_OF_SCOPE: Self = Self {
        outcome: GuardOutcome::OutOfScope,
        text: None,
        keep_failed: 0,
        but_losses: (GuardOutcome::OutOfScope, None),
    };
}

/// What came of a call, and what is printed.
pub(crate) type GuardResponse = (GuardOutcome, Option<String>);
