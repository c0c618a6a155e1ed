//! Evidence: one fact, where it was read, and when.

use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::{Role, Untrusted};

/// One fact that a verdict or finding rests on. Copies share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Evidence(Arc<Fact>);

/// The content of a piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What the fact is, such as `pid` or `process start`.
    pub fact: Untrusted,
    /// Its value.
    pub value: Untrusted,
    /// Where it was read: a path, `/proc/<pid>/stat`, or a rule.
    pub source: Untrusted,
    /// When it was read or written; `None` for a rule.
    pub at: Option<Timestamp>,
}

impl Evidence {
    /// Creates a fact without a time.
    pub(crate) fn new(
        fact: impl Into<Untrusted>,
        value: impl Into<Untrusted>,
        source: impl Into<Untrusted>,
    ) -> Self {
        Self(Arc::new(Fact { fact: fact.into(), value: value.into(), source: source.into(), at: None }))
    }

    /// Creates the fact of a recorded PID, and which process that is.
    pub(crate) fn pid(pid: u32, role: Role) -> Self {
        Self::new("pid", format!("{pid} ({})", role.whose()), "record")
    }

    /// Adds the moment at which the fact was read or written, if known.
    pub(crate) fn dated(mut self, at: impl Into<Option<Timestamp>>) -> Self {
        Arc::make_mut(&mut self.0).at = at.into();
        self
    }

    /// Shares equal content with other evidence, or else the equal name of the fact.
    pub(crate) fn share_with(&mut self, other: &Self) {
        if self == other {
            self.clone_from(other);
        } else if let Some(fact) = Arc::get_mut(&mut self.0).filter(|fact| fact.fact == other.fact) {
            fact.fact.clone_from(&other.fact);
        }
    }
}

impl Deref for Evidence {
    type Target = Fact;

    fn deref(&self) -> &Fact {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_shares_what_it_states_alike_and_nothing_else() {
        let evidence = |value: &str| Evidence::new("maia G5 {CTX} with heartbeat", value, "/f/session.json");
        let first = evidence("alpha");
        for value in ["alpha", "beta"] {
            let mut second = evidence(value);
            second.share_with(&first);
            assert_eq!(second, evidence(value));
            assert_eq!(second.fact.raw().as_ptr(), first.fact.raw().as_ptr());
            assert_eq!(Arc::ptr_eq(&second.0, &first.0), value == "alpha");
        }
    }
}
