//! Evidence: one fact, where it was read, and when.

use jiff::Timestamp;
use serde::Serialize;

use super::text::Untrusted;

/// One fact that a verdict or finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// What the fact is, such as `pid` or `process start`.
    pub fact: Untrusted,
    /// What it says.
    pub value: Untrusted,
    /// Where it was read: a path, `/proc/<pid>/stat`, or a rule.
    pub source: Untrusted,
    /// When it was read or written; `None` for a rule.
    pub at: Option<Timestamp>,
}

impl Evidence {
    /// States a fact without a time.
    pub fn new(
        fact: impl Into<Untrusted>,
        value: impl Into<Untrusted>,
        source: impl Into<Untrusted>,
    ) -> Self {
        Self { fact: fact.into(), value: value.into(), source: source.into(), at: None }
    }

    /// Returns the fact with the moment at which it was read or written.
    pub fn at(mut self, at: Timestamp) -> Self {
        self.at = Some(at);
        self
    }
}
