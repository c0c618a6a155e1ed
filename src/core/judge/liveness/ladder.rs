//! The facts of a verdict in the order in which they were weighed.

use crate::core::model::evidence::{Evidence, Fact};
use crate::core::model::text::Untrusted;
use crate::core::model::verdict::{Reason, Verdict, VerdictState, Weighed};

/// The facts, in the order in which they were weighed.
#[derive(Default)]
pub(crate) struct Ladder {
    pub(crate) facts: Weighed,
    /// Why the process behind a helper's PID is over, should nothing living own the record.
    pub(crate) helper_gone: Option<Reason>,
}

impl Ladder {
    pub(crate) fn add(&mut self, fact: &'static str, value: impl Into<Untrusted>, source: &'static str) {
        self.add_from(fact, value, Untrusted::fixed(source));
    }

    /// Adds a fact in our own words, which thousands of records may share.
    pub(crate) fn add_fixed(&mut self, fact: &'static Fact) {
        self.facts.push(Evidence::Fixed(fact));
    }

    pub(crate) fn add_from(&mut self, fact: &'static str, value: impl Into<Untrusted>, source: Untrusted) {
        self.facts.push(Evidence::new(Untrusted::fixed(fact), value, source));
    }
}

/// A verdict without its evidence.
#[derive(Clone, Copy)]
pub(crate) struct Answer(pub(crate) VerdictState, pub(crate) Reason);

impl Answer {
    pub(crate) fn with(self, ladder: Ladder) -> Verdict {
        Verdict { state: self.0, reason: self.1, evidence: ladder.facts }
    }
}

pub(crate) const fn alive(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Alive, reason))
}

pub(crate) const fn dead(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Dead, reason))
}

pub(crate) const fn unknown(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Unknown, reason))
}
