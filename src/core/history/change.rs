//! What differs between two looks, as changes of windows, records, claims and findings.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::history::subject::Subject;
use crate::core::model::text::named::named;

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Change {
    /// When the look that shows it was finished.
    pub(crate) at: Timestamp,
    pub(crate) event: Kind,
    /// Whether it is only out of sight along with all of its machine's data, though its event means that it went.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unseen: bool,
    #[serde(flatten)]
    pub(crate) subject: Subject,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) enum Kind {
        /// An agent runs.
        WindowAppeared = "window-appeared",
        /// An agent was stopped or continued, or has another session or folder, or no longer waits.
        WindowChanged = "window-changed",
        /// An agent waits for a person: reported once for each wait.
        WindowWaits = "window-waits",
        /// An agent is proven to have ended.
        WindowGone = "window-gone",
        /// An agent is no longer visible, and nothing proves that it has ended.
        WindowUnseen = "window-unseen",
        RecordAppeared = "record-appeared",
        /// A record was written, or its verdict changed.
        RecordChanged = "record-changed",
        /// A record is gone.
        RecordGone = "record-gone",
        /// A claim came, changed its status or went.
        ClaimChanged = "claim-changed",
        /// A problem came up.
        FindingRaised = "finding-raised",
        /// A problem is gone.
        FindingCleared = "finding-cleared",
    }
}
