//! Evidence: one fact, where it was read, and when.

use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::text::Untrusted;

/// One fact that a verdict or finding rests on. Copies share it: many findings rest on one fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence(Arc<Fact>);

/// What a piece of evidence states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
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
        Self(Arc::new(Fact { fact: fact.into(), value: value.into(), source: source.into(), at: None }))
    }

    /// States a fact in our own words alone.
    pub fn fixed(fact: &'static str, value: &'static str, source: &'static str) -> Self {
        Self::new(Untrusted::fixed(fact), Untrusted::fixed(value), Untrusted::fixed(source))
    }

    /// Returns the fact with the moment at which it was read or written, where that is known.
    pub fn at(mut self, at: impl Into<Option<Timestamp>>) -> Self {
        Arc::make_mut(&mut self.0).at = at.into();
        self
    }
}

impl Deref for Evidence {
    type Target = Fact;

    fn deref(&self) -> &Fact {
        &self.0
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
