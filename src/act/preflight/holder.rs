//! What a plan relies on about the holder, and the judgements that must still agree with it.

use crate::act::error::ActionError;
use crate::core::model::{Format, Location, Reason, RecordView, VerdictState};

/// What the plan relies on about the holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) format: Format,
    /// Where the record is that says so.
    pub(crate) said_at: Location,
    state: VerdictState,
    reason: Reason,
}

impl Holder {
    /// Takes down what a record says of its holder.
    pub(crate) fn of(record: &RecordView) -> Self {
        Self {
            format: record.format,
            said_at: record.location.clone(),
            state: record.verdict.state,
            reason: record.verdict.reason,
        }
    }

    /// Makes sure that no more speaks for the holder's life than when it was seen.
    pub(crate) fn is_still(&self, state: VerdictState) -> Result<(), ActionError> {
        if certainty(state) > certainty(self.state) {
            return Err(ActionError::Changed(format!("its holder is {state:?} by now").to_lowercase()));
        }
        Ok(())
    }
}

/// Returns how much speaks for a holder's life.
fn certainty(state: VerdictState) -> u8 {
    match state {
        VerdictState::Dead => 0,
        VerdictState::Unknown => 1,
        VerdictState::Alive => 2,
    }
}
