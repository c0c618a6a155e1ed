//! What follows an action once it is done: each part is verified and journalled by itself, and
//! what is refused there stops nothing else.

use jiff::Timestamp;

use super::disk::Disk;
use super::lock::{Lock, StateFolder};
use super::road::{Answer, Receipt, Request, Rules, Seen};
use super::trouble::Trouble;
use super::undo::Place;
use super::witness::Witness;
use crate::core::history::journal::History;
use crate::core::model::action::{Action, Ended, Plan};
use crate::core::model::report::Report;

/// One part that follows, as it was seen together with what it follows.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    title: String,
    seen: Result<Box<Seen>, Trouble>,
}

/// What became of one part that followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// What it was about.
    pub title: String,
    /// What was done, or why nothing was.
    pub end: Result<Receipt, Trouble>,
}

/// What was done, and what followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What was done.
    pub receipt: Receipt,
    /// What followed, in order; nothing unless that was done.
    pub followed: Vec<Followed>,
}

/// Names the parts that follow a plan.
pub(super) fn of_plan(plan: &Plan, action: Action) -> Vec<(String, Request)> {
    let request = |plan: &Plan| Request::Act { key: plan.subject.clone(), action };
    plan.follows.iter().map(|plan| (plan.what.clone(), request(plan))).collect()
}

/// Names what followed an entry, to be undone with it.
pub(super) fn of_entry(history: &History, number: u64, place: Place) -> Vec<(String, Request)> {
    let followers = history.followers(number).map(|entry| {
        let title = format!("undo entry {}: {}", entry.number, entry.intent.title);
        (title, Request::Undo { entry: entry.number, place })
    });
    followers.collect()
}

/// Looks at the files of each part.
pub(super) fn see<D: Disk>(
    lock: &Lock<'_, D>,
    report: &Report,
    requests: Vec<(String, Request)>,
    rules: &Rules,
    now: Timestamp,
) -> Vec<Follower> {
    let see = |(title, request)| Follower {
        title,
        seen: Seen::see(lock, report, request, rules, now).map(Box::new),
    };
    requests.into_iter().map(see).collect()
}

impl Follower {
    /// Returns why it cannot be done now, with what it is about.
    pub(super) fn obstacle(&self) -> Option<(&str, Trouble)> {
        let trouble = match &self.seen {
            Ok(seen) => Trouble::NotNow(seen.wait.clone()?),
            Err(trouble) => trouble.clone(),
        };
        Some((&self.title, trouble))
    }

    /// Returns what would be done.
    pub(super) fn plan(&self) -> Option<&Plan> {
        self.seen.as_ref().ok().map(|seen| &seen.plan)
    }

    fn carry_out<D: Disk>(self, lock: &mut Lock<'_, D>, entry: u64, witness: &mut impl Witness) -> Followed {
        let follow = |mut seen: Box<Seen>| {
            seen.follows = Some(entry);
            // A part that asks for more than a plain yes was not shown as one that follows.
            seen.confirm(&Answer::Yes)?.verify(lock, witness)?.execute(witness)
        };
        Followed { title: self.title, end: self.seen.and_then(follow) }
    }
}

/// Does what was seen if the answer is what it asks for, and then what follows, under one lock.
///
/// # Errors
/// It is not confirmed, or something is not as it was seen; nothing was touched.
pub fn carry_out<D: Disk>(
    state: &StateFolder<D>,
    mut seen: Seen,
    answer: &Answer,
    witness: &mut impl Witness,
) -> Result<Carried, Trouble> {
    let followers = std::mem::take(&mut seen.followers);
    let confirmed = seen.confirm(answer)?;
    let mut lock = state.lock(state.patience, witness.now())?;
    let receipt = confirmed.verify(&mut lock, witness)?.execute(witness)?;
    let followers = followers.into_iter().filter(|_| receipt.outcome.ended == Ended::Done);
    let followed = followers.map(|follower| follower.carry_out(&mut lock, receipt.entry, witness));
    Ok(Carried { followed: followed.collect(), receipt })
}
