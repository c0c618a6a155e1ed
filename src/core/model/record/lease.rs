//! Until when a record counts, for its own system and for others that clean up.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::fixed;
use crate::core::model::fixed::Word;

/// Something that its own system takes for life until a moment, whatever the heartbeat says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    /// What it is, such as `a silence that was announced`.
    #[serde(deserialize_with = "fixed::word")]
    pub what: Word,
    /// Until when it holds.
    pub until: Timestamp,
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
    /// Which clean-up, and by what rule.
    #[serde(deserialize_with = "fixed::word")]
    pub rule: Word,
    /// Whether that clean-up spares a live agent's record by looking at the process.
    pub spares: Spares,
}

/// Whom another system's clean-up leaves alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spares {
    /// Nobody: it looks at the age alone.
    Nobody,
    /// A PID whose process name contains `claude` or `native-binary`.
    AgentNames,
}
