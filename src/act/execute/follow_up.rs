//! What follows an action once it is done: each part is verified and journalled by itself, and
//! what is refused there stops nothing else.

use crate::act::error::ActionError;
use crate::act::execute::Receipt;
use crate::act::fs::disk::Disk;
use crate::act::look::Look;
use crate::act::preflight::preview::{FollowUp, Preview};
use crate::act::rules::Answer;
use crate::act::state::journal_store::{Lock, StateFolder};
use crate::core::model::EndResult;

/// What became of one part that followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUpResult {
    /// What it was about.
    pub title: String,
    /// What was done, or why nothing was.
    pub end: Result<Receipt, ActionError>,
}

/// What was done, and what followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedAction {
    /// What was done.
    pub receipt: Receipt,
    /// What followed, in order; nothing unless that was done.
    pub followed: Vec<FollowUpResult>,
}

impl FollowUp {
    fn carry_out<D: Disk>(
        self,
        lock: &mut Lock<'_, D>,
        entry: u64,
        observer: &mut impl Look,
    ) -> FollowUpResult {
        let follow = |mut preview: Box<Preview>| {
            preview.follows = Some(entry);
            // A part that asks for more than a plain yes was not shown as one that follows, but where the code of the
            // whole is of its state as well.
            let typed = preview.wanted().filter(|_| self.is_confirmed);
            preview
                .confirm(&typed.map_or(Answer::Yes, Answer::Typed))?
                .verify(lock, observer)?
                .execute(observer)
        };
        FollowUpResult { title: self.title, end: self.preview.and_then(follow) }
    }
}

/// Does what was seen if the answer is what it asks for, and then what follows, under one lock.
///
/// # Errors
/// It is not confirmed, or something is not as it was seen; nothing was touched.
pub fn carry_out<D: Disk>(
    state: &StateFolder<D>,
    mut preview: Preview,
    answer: &Answer,
    observer: &mut impl Look,
) -> Result<CompletedAction, ActionError> {
    let follow_ups = std::mem::take(&mut preview.follow_ups);
    let confirmed = preview.confirm(answer)?;
    let mut lock = state.lock(state.patience, observer.now())?;
    // Who has asked may have been told meanwhile that it will not be done.
    if confirmed.order().is_some_and(|order| lock.history.ordered(&order.id).is_some()) {
        return Err(ActionError::Changed("the order was answered already".to_owned()));
    }
    let receipt = confirmed.verify(&mut lock, observer)?.execute(observer)?;
    let follow_ups = follow_ups.into_iter().filter(|_| receipt.outcome.ended == EndResult::Done);
    let followed = follow_ups.map(|follow_up| follow_up.carry_out(&mut lock, receipt.entry, observer));
    Ok(CompletedAction { followed: followed.collect(), receipt })
}
