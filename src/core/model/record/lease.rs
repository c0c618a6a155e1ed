//! Until when a record counts for its own system, and for others that clean up.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::Word;
use crate::core::model::text::fixed;

/// Something that its own system accepts as a sign of life until a moment, whatever the heartbeat is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    /// Its kind.
    pub what: SignOfLife,
    /// Until when it holds.
    pub until: Timestamp,
}

/// What a system accepts as a sign of life, by its words in recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignOfLife {
    /// The session wrote that it lives.
    #[serde(rename = "a heartbeat in the last 300 s")]
    Heartbeat,
    /// The daemon that watches the session's process wrote that it lives.
    #[serde(rename = "a tick in the last 90 s")]
    Tick,
    /// The session announced that it would be silent.
    #[serde(rename = "a silence that was announced")]
    Silence,
    /// A tool runs, and its end is expected.
    #[serde(rename = "a tool that is expected to end")]
    Tool,
}

impl SignOfLife {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Heartbeat => "a heartbeat in the last 300 s",
            Self::Tick => "a tick in the last 90 s",
            Self::Silence => "a silence that was announced",
            Self::Tool => "a tool that is expected to end",
        }
    }
}

/// When a record's own system stops trusting it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiry {
    /// From this moment on it is stale.
    pub at: Timestamp,
    /// The rule in words, such as `heartbeat older than 900 s`.
    #[serde(deserialize_with = "fixed::word")]
    pub rule: Word,
}

/// Another system's clean-up that will remove the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deletion {
    /// From this moment on the next run removes it.
    pub at: Timestamp,
    /// Which clean-up, and its rule.
    #[serde(deserialize_with = "fixed::word")]
    pub rule: Word,
    /// Whether that clean-up spares a live agent's record by looking at the process.
    pub spares: Spares,
}

/// The records that another system's clean-up leaves alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spares {
    /// None: it checks only the age.
    Nobody,
    /// A PID whose process name contains `claude` or `native-binary`.
    AgentNames,
}
