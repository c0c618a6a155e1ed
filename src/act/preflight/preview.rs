//! Previews: a plan with the prints of its files, and what confirms it.

use crate::act::error::ActionError;
use crate::act::fs::print::sha256;
use crate::act::preflight::holder::Holder;
use crate::act::preflight::prepared::PreparedStep;
use crate::act::rules::Rules;
use crate::core::fleet::order::digest_of;
use crate::core::model::{Confirmation, OrderNote, Plan, Request};

/// A plan with the prints of all files that it touches.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The plan.
    pub plan: Plan,
    pub(crate) request: Request,
    pub(crate) rules: Rules,
    pub(crate) prepared: Vec<PreparedStep>,
    pub(crate) holder: Option<Holder>,
    pub(crate) state: String,
    /// Why it is not carried out yet, if it is not.
    pub wait: Option<ActionError>,
    /// Why some of what was asked for is left out.
    pub(crate) left_out: Vec<ActionError>,
    /// The follow-ups.
    pub(crate) follow_ups: Vec<FollowUp>,
    /// The entry that it follows.
    pub(crate) follows: Option<u64>,
    /// The other machine's order for it, if there is one.
    pub(crate) order: Option<OrderNote>,
}

/// One follow-up, as it was seen together with what it follows.
#[derive(Clone, Debug)]
pub(crate) struct FollowUp {
    pub(crate) title: String,
    pub(crate) preview: Result<Box<Preview>, ActionError>,
    /// Whether confirming the whole confirms it: its own state is part of the whole's.
    pub(crate) is_confirmed: bool,
}

impl Preview {
    pub(crate) fn new(
        plan: Plan,
        request: Request,
        rules: &Rules,
        prepared: Vec<PreparedStep>,
        holder: Option<Holder>,
    ) -> Self {
        let state =
            sha256(format!("{:?} {:?} {prepared:?} {holder:?}", plan.steps, plan.confirmation).as_bytes());
        let (rules, follow_ups) = (rules.clone(), Vec::new());
        Self {
            plan,
            request,
            rules,
            prepared,
            holder,
            state,
            wait: None,
            left_out: Vec::new(),
            follow_ups,
            follows: None,
            order: None,
        }
    }

    /// Derives its state from those of all its parts, which one code then confirms.
    pub(crate) fn of_parts(self) -> Self {
        let states = self.follow_ups.iter().map(|part| match &part.preview {
            Ok(preview) => preview.state.clone(),
            Err(error) => format!("{:?}", error.kind()),
        });
        let state = sha256(states.chain([self.state.clone()]).collect::<Vec<_>>().join(" ").as_bytes());
        Self { state, ..self }
    }

    /// Returns the short code of this very state: six letters and digits that cannot be confused.
    pub fn code(&self) -> String {
        code_of(&self.state)
    }

    /// Returns what must be typed if a plain yes is not enough.
    pub fn wanted(&self) -> Option<String> {
        match self.plan.confirmation {
            Confirmation::Yes | Confirmation::Refused => None,
            Confirmation::Code => Some(self.code()),
            Confirmation::FullName => Some(self.plan.name.clone()),
        }
    }

    /// Names the first part in which a later look at the same request differs.
    pub(crate) fn changed_part(&self, later: &Self) -> String {
        if self.holder != later.holder {
            return later.holder.as_ref().map_or("the holder".to_owned(), Holder::verdict_text);
        }
        if self.plan.steps != later.plan.steps {
            return "what is to be done".to_owned();
        }
        if self.plan.confirmation != later.plan.confirmation {
            return "how it must be confirmed".to_owned();
        }
        match self.prepared.iter().zip(&later.prepared).find(|(before, now)| before != now) {
            Some((step, _)) => step.subject(),
            None => "something that belongs to it".to_owned(),
        }
    }

    /// Returns the digest of this very plan, with all its follow-ups, for the state that was seen.
    ///
    /// # Errors
    /// The plan cannot be written as JSON, so it cannot be requested by its digest.
    pub fn digest(&self) -> Result<String, ActionError> {
        let follow_ups = self.follow_ups.iter().filter_map(|one| one.preview.as_ref().ok());
        let states = follow_ups.map(|preview| preview.state.as_str());
        let states: Vec<&str> = [self.state.as_str()].into_iter().chain(states).collect();
        digest_of(&self.plan, &states)
            .map_err(|error| ActionError::Refused(format!("failed to write the plan as JSON: {error}")))
    }

    /// Returns the request.
    pub fn request(&self) -> &Request {
        &self.request
    }
}

impl FollowUp {
    /// Returns why it cannot be done now, with its title.
    pub(crate) fn obstacle(&self) -> Option<(&str, ActionError)> {
        let error = match &self.preview {
            Ok(preview) => preview.wait.clone()?,
            Err(error) => error.clone(),
        };
        Some((&self.title, error))
    }

    /// Returns the plan.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.preview.as_ref().ok().map(|preview| &preview.plan)
    }
}

/// Derives the short code of a state from its hash in hex digits.
fn code_of(state: &str) -> String {
    const ALPHABET: &[u8] = b"acdefhjkmnprtuvwxy3479";
    let digits = state.bytes().collect::<Vec<_>>();
    let pairs = digits.chunks(2).take(6).filter_map(|pair| {
        let number = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        ALPHABET.get(usize::from(number) % ALPHABET.len()).copied()
    });
    pairs.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_code_has_six_of_all_letters_and_digits_that_cannot_be_confused() {
        assert_eq!(code_of(&sha256(b"a state")).len(), 6);
        let drawn: BTreeSet<String> = (0..=255).map(|byte| code_of(&format!("{byte:02x}"))).collect();
        assert_eq!(drawn.len(), 22);
        assert!(drawn.iter().all(|one| one.len() == 1 && !"0o1il5s2z8b6gq".contains(one.as_str())));
    }
}
