//! What a plan relies on about the holder, and the judgements that must still agree with it.

use super::Seen;
use crate::act::movement::shown;
use crate::act::trouble::Trouble;
use crate::act::witness::{self, Witness, judge_taken};
use crate::core::assess::assess;
use crate::core::model::file::FileImage;
use crate::core::model::judged::RecordView;
use crate::core::model::record::format::Format;
use crate::core::model::record::location::Location;
use crate::core::model::verdict::{Reason, VerdictState};

/// What the plan relies on about the holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    format: Format,
    /// Where the record is that says so.
    said_at: Location,
    state: VerdictState,
    reason: Reason,
}

impl Holder {
    /// Takes down what a record says of its holder.
    pub(super) fn of(record: &RecordView) -> Self {
        Self {
            format: record.format,
            said_at: record.location.clone(),
            state: record.verdict.state,
            reason: record.verdict.reason,
        }
    }

    /// Makes sure that no more speaks for the holder's life than when it was seen.
    fn is_still(&self, state: VerdictState) -> Result<(), Trouble> {
        if certainty(state) > certainty(self.state) {
            return Err(Trouble::Changed(format!("its holder is {state:?} by now").to_lowercase()));
        }
        Ok(())
    }
}

impl Seen {
    /// Judges the holder once more, now that nobody else can write the database.
    pub(super) fn agrees(&self, database: &str, witness: &mut impl Witness) -> Result<(), Trouble> {
        let snapshot = witness.look();
        witness::is_free(&snapshot.databases, database)?;
        let Some(holder) = &self.holder else { return Ok(()) };
        let report = assess(&snapshot, witness.policy());
        let record = report.records().find(|record| record.key == self.plan.record);
        let gone = || Trouble::Changed("the row is not there any more".to_owned());
        holder.is_still(record.ok_or_else(gone)?.verdict.state)
    }

    /// Judges the holder once more, now that nobody can renew the record in its place.
    pub(super) fn believe(&self, taken: &[FileImage], witness: &mut impl Witness) -> Result<(), Trouble> {
        let Some(holder) = &self.holder else { return Ok(()) };
        match (judge_taken(witness, holder.format, taken), taken.last()) {
            (Some(verdict), _) => holder.is_still(verdict.state),
            (None, Some(last)) if holder.said_at.is(&last.path) => {
                Err(Trouble::Changed(format!("{} is no record by now", shown(&last.path))))
            }
            // What belongs to a record says nothing by itself.
            (None, _) => Ok(()),
        }
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
