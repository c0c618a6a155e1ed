//! The facts about the holder that a plan relies on, and the judgements that must still agree with them.

use crate::act::error::ActionError;
use crate::core::model::{FarSession, Format, Location, Reason, RecordView, VerdictState};

/// The facts about the holder that a plan relies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) format: Format,
    /// The location of the record that says so.
    pub(crate) said_at: Location,
    state: VerdictState,
    reason: Reason,
    /// What another machine knows of the holder.
    testimony: Option<String>,
    /// Where its session is alive on another machine.
    lives_on: Option<FarSession>,
}

impl Holder {
    /// Records what a record says of its holder.
    pub(crate) fn from_record(record: &RecordView) -> Self {
        Self {
            format: record.format,
            said_at: record.location.clone(),
            state: record.verdict.state,
            reason: record.verdict.reason,
            testimony: record.witness().map(|fact| format!("{}: {}", fact.source, fact.value)),
            lives_on: record.lives_on.as_deref().cloned(),
        }
    }

    /// Names the holder by its verdict: "the holder (now unknown, no-permission)".
    pub(crate) fn verdict_text(&self) -> String {
        format!("the holder (now {}, {})", self.state.name(), self.reason.name())
    }

    /// Makes sure that the holder does not look more alive than when it was seen.
    pub(crate) fn is_still(&self, record: &RecordView) -> Result<(), ActionError> {
        let before = certainty(self.state, self.lives_on.as_ref());
        let state = record.verdict.state;
        if certainty(state, record.lives_on.as_deref()) <= before {
            return Ok(());
        }
        let now = format!("its holder is now {state:?}").to_lowercase();
        Err(ActionError::Changed(record.lives_on.as_deref().map_or(now, FarSession::place_text)))
    }
}

/// Ranks how strongly the evidence shows a holder to be alive.
fn certainty(state: VerdictState, lives_on: Option<&FarSession>) -> u8 {
    match state {
        VerdictState::Dead => lives_on.map_or(0, |session| 1 + u8::from(session.is_heard)),
        VerdictState::Unknown => 1,
        VerdictState::Alive => 2,
    }
}
