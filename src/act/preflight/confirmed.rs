//! A confirmed plan, and the look that verifies it under the lock.

use crate::act::error::ActionError;
use crate::act::execute::VerifiedPlan;
use crate::act::fs::disk::Disk;
use crate::act::look::{self, Look};
use crate::act::preflight::preview::Preview;
use crate::act::rules::Answer;
use crate::act::state::journal_store::Lock;
use crate::core::model::{Confirmation, OrderNote};

/// A plan that a person has confirmed, for the state in which it was seen.
#[derive(Clone, Debug)]
pub struct ConfirmedPlan(pub(crate) Preview);

impl Preview {
    /// Confirms the plan with a person's answer.
    ///
    /// # Errors
    /// It is not the answer that this state requires.
    pub fn confirm(self, answer: &Answer) -> Result<ConfirmedPlan, ActionError> {
        let wanted = match self.plan.confirmation {
            Confirmation::Yes => None,
            Confirmation::Code => Some(("the code", self.code())),
            Confirmation::FullName => Some(("the full name", self.plan.name.clone())),
            Confirmation::Refused => return Err(ActionError::Never("it is never allowed".to_owned())),
        };
        match (wanted, answer) {
            (None, Answer::Yes) => Ok(ConfirmedPlan(self)),
            (Some((_, wanted)), Answer::Typed(typed)) if *typed == wanted => Ok(ConfirmedPlan(self)),
            (None, Answer::Typed(_)) => Err(ActionError::NotConfirmed("a plain yes is needed".to_owned())),
            (Some((what, wanted)), _) => {
                Err(ActionError::NotConfirmed(format!("type {what} for this exact state: {wanted}")))
            }
        }
    }
}

impl ConfirmedPlan {
    /// Returns the order by which another machine has sent it.
    pub(crate) fn order(&self) -> Option<&OrderNote> {
        self.0.order.as_ref()
    }

    /// Looks at everything again, under the lock.
    ///
    /// # Errors
    /// Anything is not as it was seen; nothing was touched.
    pub fn verify<'l, 's, D: Disk>(
        self,
        lock: &'l mut Lock<'s, D>,
        observer: &mut impl Look,
    ) -> Result<VerifiedPlan<'l, 's, D>, ActionError> {
        let preview = self.0;
        let report = look::report(observer);
        let again =
            match Preview::look(lock, &report, preview.request.clone(), &preview.rules, observer.now()) {
                Err(ActionError::Never(why)) => return Err(ActionError::Changed(why)),
                again => again?,
            };
        if again.state != preview.state {
            let what = preview.changed_part(&again);
            return Err(ActionError::Changed(format!("{what} changed after the plan was shown")));
        }
        if let Some(wait) = again.wait {
            return Err(wait);
        }
        // Of processes that come and go, the current ones.
        let preview = Preview { prepared: again.prepared, ..preview };
        Ok(VerifiedPlan { preview, lock })
    }
}
