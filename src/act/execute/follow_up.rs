//! Follow-ups of a completed action: each is verified and journalled separately, and a refused one does not stop the
//! others.

use crate::act::error::ActionError;
use crate::act::execute::Receipt;
use crate::act::fs::disk::Disk;
use crate::act::look::Look;
use crate::act::preflight::preview::{FollowUp, Preview};
use crate::act::rules::Answer;
use crate::act::state::journal_store::{Lock, StateFolder};
use crate::core::model::EndResult;

/// The result of one follow-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUpResult {
    /// The follow-up's title.
    pub title: String,
    /// Its receipt, or why it was not carried out.
    pub end: Result<Receipt, ActionError>,
}

/// A completed action with its follow-ups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedAction {
    /// The action's own receipt.
    pub receipt: Receipt,
    /// The follow-ups in order; empty unless the action was done.
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
            // A part that requires more than a plain yes was not shown as a follow-up, unless the code of the whole
            // covers its state too.
            let typed = preview.wanted().filter(|_| self.is_confirmed);
            preview
                .confirm(&typed.map_or(Answer::Yes, Answer::Typed))?
                .verify(lock, observer)?
                .execute(observer)
        };
        FollowUpResult { title: self.title, end: self.preview.and_then(follow) }
    }
}

/// What is finished of an action.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// The action itself.
    Action(&'a Receipt),
    /// One of its follow-ups.
    FollowUp(&'a FollowUpResult),
}

/// Carries out a previewed action if the answer confirms it, and then its follow-ups, under one lock.
///
/// # Errors
/// The answer does not confirm it, or something is not as it was seen; nothing was touched.
pub fn carry_out<D: Disk>(
    state: &StateFolder<D>,
    preview: Preview,
    answer: &Answer,
    observer: &mut impl Look,
) -> Result<CompletedAction, ActionError> {
    carry_out_in_parts(state, preview, answer, observer, &mut |_| ())
}

/// Does the same, and reports each part as soon as it is finished.
///
/// # Errors
/// As [`carry_out`].
pub(crate) fn carry_out_in_parts<D: Disk>(
    state: &StateFolder<D>,
    mut preview: Preview,
    answer: &Answer,
    observer: &mut impl Look,
    finished: &mut dyn FnMut(Part<'_>),
) -> Result<CompletedAction, ActionError> {
    let follow_ups = std::mem::take(&mut preview.follow_ups);
    let confirmed = preview.confirm(answer)?;
    let mut lock = state.lock(state.patience, observer.now())?;
    // The machine that sent the order may have been informed meanwhile that it will not be carried out.
    if confirmed.order().is_some_and(|order| lock.history.ordered(&order.id).is_some()) {
        return Err(ActionError::Changed("the order was answered already".to_owned()));
    }
    let receipt = confirmed.verify(&mut lock, observer)?.execute(observer)?;
    finished(Part::Action(&receipt));
    let follow_ups = follow_ups.into_iter().filter(|_| receipt.outcome.ended == EndResult::Done);
    let followed = follow_ups.map(|follow_up| {
        let followed = follow_up.carry_out(&mut lock, receipt.entry, observer);
        finished(Part::FollowUp(&followed));
        followed
    });
    Ok(CompletedAction { followed: followed.collect(), receipt })
}
