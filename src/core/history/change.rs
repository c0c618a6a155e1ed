//! What differs between two looks, as changes of windows, records, claims and findings.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::history::subject::Subject;

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// When the look that shows it was finished.
    pub(crate) at: Timestamp,
    pub(crate) event: Kind,
    #[serde(flatten)]
    pub(crate) subject: Subject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// An agent runs.
    WindowAppeared,
    /// An agent was stopped or went on, or has another session or folder.
    WindowChanged,
    /// An agent runs no more.
    WindowGone,
    RecordAppeared,
    /// A record was written, or its verdict changed.
    RecordChanged,
    /// A record is there no more.
    RecordGone,
    /// A claim came, changed its status or went.
    ClaimChanged,
    /// A problem came up.
    FindingRaised,
    /// A problem is gone.
    FindingCleared,
}

impl Kind {
    /// Returns the name that the interface fixes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WindowAppeared => "window-appeared",
            Self::WindowChanged => "window-changed",
            Self::WindowGone => "window-gone",
            Self::RecordAppeared => "record-appeared",
            Self::RecordChanged => "record-changed",
            Self::RecordGone => "record-gone",
            Self::ClaimChanged => "claim-changed",
            Self::FindingRaised => "finding-raised",
            Self::FindingCleared => "finding-cleared",
        }
    }
}
