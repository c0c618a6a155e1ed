//! The facts of a verdict in the order in which they were weighed.

use crate::core::model::{Evidence, Reason, Untrusted, Verdict, VerdictState};

/// The facts that a verdict rests on, in the order in which they were weighed.
#[derive(Default)]
pub(crate) struct Trail {
    pub(crate) facts: Vec<Evidence>,
    /// Why the process behind a helper's PID is over, should nothing living own the record.
    pub(crate) helper_gone: Option<Reason>,
    /// Whether processes of the group or session that bears a helper's PID live on.
    pub(crate) has_survivors: bool,
    in_other_namespace: bool,
}

impl Trail {
    pub(crate) fn add(&mut self, fact: &'static str, value: impl Into<Untrusted>, source: &'static str) {
        self.facts.push(Evidence::new(fact, value, source));
    }

    /// Adds that the PID counts, or may count, in another PID namespace.
    pub(crate) fn add_other_namespace(&mut self, value: impl Into<Untrusted>, source: &'static str) {
        self.in_other_namespace = true;
        self.add("other namespace", value, source);
    }

    pub(crate) fn add_from(&mut self, fact: &'static str, value: impl Into<Untrusted>, source: Untrusted) {
        self.facts.push(Evidence::new(fact, value, source));
    }
}

/// A verdict without its evidence.
#[derive(Clone, Copy)]
pub(crate) struct Answer(pub(crate) VerdictState, pub(crate) Reason);

impl Answer {
    pub(crate) fn into_verdict(self, trail: Trail) -> Verdict {
        Verdict {
            state: self.0,
            reason: self.1,
            in_other_namespace: trail.in_other_namespace,
            evidence: trail.facts.into(),
        }
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
