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
    /// Whether it is only out of sight with all that its machine told, though its event says that it went.
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
        /// An agent was stopped or went on, or has another session or folder, or waits no more.
        WindowChanged = "window-changed",
        /// An agent waits for a person: told once for each wait.
        WindowWaits = "window-waits",
        /// An agent has ended, which is proven.
        WindowGone = "window-gone",
        /// An agent is not seen any more, and nothing proves that it has ended.
        WindowUnseen = "window-unseen",
        RecordAppeared = "record-appeared",
        /// A record was written, or its verdict changed.
        RecordChanged = "record-changed",
        /// A record is there no more.
        RecordGone = "record-gone",
        /// A claim came, changed its status or went.
        ClaimChanged = "claim-changed",
        /// A problem came up.
        FindingRaised = "finding-raised",
        /// A problem is gone.
        FindingCleared = "finding-cleared",
    }
}
