//! What would be done, as it was seen: the plan with the prints of its files, and what confirms it.

use std::cell::RefCell;

use jiff::Timestamp;

use super::confirmed::Confirmed;
use super::holder::Holder;
use super::{Answer, Rules};
use crate::act::disk::Disk;
use crate::act::follow::{self, Follower};
use crate::act::lock::Lock;
use crate::act::movement::sha256;
use crate::act::planned::Planned;
use crate::act::sight::Sight;
use crate::act::trouble::Trouble;
use crate::act::undo;
use crate::core::model::action::{Action, Confirmation, Plan, Request};
use crate::core::model::report::Report;
use crate::core::plan::about::plan_for;
use crate::core::plan::left::plan_left;

/// A plan with the prints of all files that it touches.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What would be done.
    pub plan: Plan,
    pub(super) request: Request,
    pub(super) rules: Rules,
    pub(super) planned: Vec<Planned>,
    pub(super) holder: Option<Holder>,
    pub(super) state: String,
    /// Why it is not done yet, if it is not.
    pub wait: Option<String>,
    /// What follows once it is done.
    pub(in crate::act) followers: Vec<Follower>,
    /// The entry that it follows.
    pub(in crate::act) follows: Option<u64>,
}

impl Seen {
    /// Looks at all files of a plan, or of an entry to undo.
    ///
    /// # Errors
    /// It is never done, or a file is not as it must be.
    pub fn see<D: Disk>(
        lock: &Lock<'_, D>,
        report: &Report,
        request: Request,
        rules: &Rules,
        now: Timestamp,
    ) -> Result<Self, Trouble> {
        let followers = |requests| follow::see(lock, report, requests, rules, now);
        match &request {
            Request::Act { key, action } => {
                let mut plan = plan_for(report, key, *action);
                if let Some(refusal) = &plan.refusal {
                    return Err(Trouble::Never(refusal.to_string()));
                }
                let sight = Sight { hands: lock.hands(), rules, now, wait: RefCell::default() };
                let planned: Vec<_> =
                    plan.steps.iter().map(|step| sight.planned(step)).collect::<Result<_, _>>()?;
                let holder = report.records().find(|record| record.key == plan.record).map(Holder::of);
                let followers = followers(follow::of_plan(&plan, Action::Park));
                let wait = sight.wait.into_inner();
                plan.why.extend(wait.clone());
                plan.inverse = told_where(&plan.inverse, &planned);
                Ok(Self { followers, wait, ..Self::new(plan, request, rules, planned, holder) })
            }
            Request::Left { of } => {
                let mut plan = plan_left(report, of);
                if let Some(refusal) = &plan.refusal {
                    return Err(Trouble::Never(refusal.to_string()));
                }
                let followers = followers(follow::of_plan(&plan, Action::Release));
                let obstacles: Vec<_> = followers.iter().filter_map(Follower::obstacle).collect();
                let told = |(title, trouble): &(&str, Trouble)| format!("not now: {title}: {trouble}");
                plan.why.extend(obstacles.iter().map(told));
                let is_stuck = obstacles.len() == followers.len();
                let wait = match obstacles.into_iter().next().filter(|_| is_stuck) {
                    None => None,
                    Some((_, Trouble::NotNow(wait))) => Some(wait),
                    Some((_, trouble)) => return Err(trouble),
                };
                Ok(Self { followers, wait, ..Self::new(plan, request, rules, Vec::new(), None) })
            }
            Request::Undo { entry, place } => {
                let (mut plan, planned) = undo::plan(lock, *entry, *place, now)?;
                let followers = followers(follow::of_entry(&lock.history, *entry, *place));
                plan.follows = followers.iter().filter_map(Follower::plan).cloned().collect();
                Ok(Self { followers, ..Self::new(plan, request, rules, planned, None) })
            }
        }
    }

    fn new(
        plan: Plan,
        request: Request,
        rules: &Rules,
        planned: Vec<Planned>,
        holder: Option<Holder>,
    ) -> Self {
        let state =
            sha256(format!("{:?} {:?} {planned:?} {holder:?}", plan.steps, plan.confirmation).as_bytes());
        let (rules, followers) = (rules.clone(), Vec::new());
        Self { plan, request, rules, planned, holder, state, wait: None, followers, follows: None }
    }

    /// Returns the short code of this very state: six letters and digits that cannot be confused.
    pub fn code(&self) -> String {
        code_of(&self.state)
    }

    /// Returns what must be typed where a plain yes is not enough.
    pub fn wanted(&self) -> Option<String> {
        match self.plan.confirmation {
            Confirmation::Yes | Confirmation::Refused => None,
            Confirmation::Code => Some(self.code()),
            Confirmation::FullName => Some(self.plan.name.clone()),
        }
    }

    /// Returns what was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Takes what a person gave.
    ///
    /// # Errors
    /// It is not what this state asks for.
    pub fn confirm(self, answer: &Answer) -> Result<Confirmed, Trouble> {
        let wanted = match self.plan.confirmation {
            Confirmation::Yes => None,
            Confirmation::Code => Some(("the code", self.code())),
            Confirmation::FullName => Some(("the full name", self.plan.name.clone())),
            Confirmation::Refused => return Err(Trouble::Never("it is never done".to_owned())),
        };
        match (wanted, answer) {
            (None, Answer::Yes) => Ok(Confirmed(self)),
            (Some((_, wanted)), Answer::Typed(typed)) if *typed == wanted => Ok(Confirmed(self)),
            (None, Answer::Typed(_)) => Err(Trouble::NotConfirmed("a plain yes is asked for".to_owned())),
            (Some((what, wanted)), _) => {
                Err(Trouble::NotConfirmed(format!("{what} of this very state is asked for: {wanted}")))
            }
        }
    }
}

/// Says with how a plan is undone where its files are until then, when that is elsewhere than usual.
fn told_where(inverse: &str, planned: &[Planned]) -> String {
    let mut words: Vec<String> = planned.iter().filter_map(Planned::parked_words).collect();
    words.dedup();
    std::iter::once(inverse.to_owned()).chain(words).collect::<Vec<_>>().join("; ")
}

/// Draws the short code of a state from its hash in hex digits.
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
